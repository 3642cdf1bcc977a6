"""Bin patterns: what fits one node together, what that is worth at given prices, and the bound it gives."""
