"""Constructive methods without a bound."""
