"""A population of placements: children take whole nodes from their parents, compiled kernels repair and polish them."""
