"""Hardware that instances can name: node kinds, racks and supernodes, each number with its source.

Owns the data files and what can be asked of them. Must not know instances, models or solvers; what an expanded profile
means is the loader's business.
"""

from __future__ import annotations

from allocator.catalog.entries import GROUPS, ILLUSTRATIVE, Entry, Number, list_entries, show

__all__ = ["GROUPS", "ILLUSTRATIVE", "Entry", "Number", "list_entries", "show"]
