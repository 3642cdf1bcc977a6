"""A plan, its evaluation, the result that holds it, and their files."""
