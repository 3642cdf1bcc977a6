"""Fewest nodes for members on interchangeable nodes: bin packing by patterns."""
