"""Solving methods, what they share, and the bounds and explanations around them."""
