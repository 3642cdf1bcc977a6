"""Starts for traffic: what talks much is tied together, spread over the tree, and walked before single items are."""
