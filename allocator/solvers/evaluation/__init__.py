"""Exact values of assignments on the compiled arrays: what a method claims. The checker never reads this."""
