"""Independent evaluation of plans: every constraint and every goal, recomputed from instance, model and plan alone.

Shares no code with compiled arrays, solvers or linearisation.
"""

from __future__ import annotations

from allocator.checker.check import check
from allocator.checker.claims import check_claims

__all__ = ["check", "check_claims"]
