"""Seeded, realistic instances from 100 to 1,000,000 agents, with the total load set.

Owns families of instance documents. Must not know solvers, compiled arrays or the checker: a document is all it makes.
"""

from allocator.generate.families import FAMILIES, LARGEST, SMALLEST, generate

__all__ = ["FAMILIES", "LARGEST", "SMALLEST", "generate"]
