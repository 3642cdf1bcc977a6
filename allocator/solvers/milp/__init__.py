"""The exact mixed-integer model: formulation by family and goal, and HiGHS driven directly."""
