"""Response times in the exact model: family ``slo`` and goal ``p99`` (equations 13, 27)."""
