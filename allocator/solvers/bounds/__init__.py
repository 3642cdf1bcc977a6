"""Bounds without the exact model, and what limits a plan. Knows no method."""
