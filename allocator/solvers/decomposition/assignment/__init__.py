"""Least cost of placing members one by one on nodes: the generalised assignment problem."""
