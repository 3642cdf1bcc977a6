"""Statistics of records by the conventions of the field: one idea a module, pure functions. References: the guide."""
