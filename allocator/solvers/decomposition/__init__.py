"""Stages that exploit the structure of an instance before and beside the exact model."""
