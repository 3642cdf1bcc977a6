"""Search by compiled moves: independent walks that cool, level by level."""
