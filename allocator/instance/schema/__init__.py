"""Schema of the instance document (Pydantic). Owns keys, types and single values; knows no entity and no file.

Scalars arrive as text (``reading``). Fields of a fixed dimension leave as exact fractions in base units; amounts of
resources leave as checked text, since their unit depends on the resource.
"""
