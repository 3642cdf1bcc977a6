"""Compiled search kernels on integer arrays: one problem, one state, one elementary change, many moves."""
