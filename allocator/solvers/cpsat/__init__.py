"""Method ``cpsat``: the constraint families and goals as an integer program for OR-Tools CP-SAT, scaled exactly.

Owns that formulation and how it is solved level by level. Must not know the other back ends, nor the checker.
"""
