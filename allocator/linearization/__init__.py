"""Piecewise linear approximation with proven errors: usable apart from the rest of the package.

Functions (``Fair``, ``Knee``, ``Table``, ``Reciprocal``, ``Smooth``, ``Polyline``) are evaluated by rational
enclosures. ``outer`` and ``inner`` approximate concave and convex ones with the fewest pieces; ``incremental`` and
``logarithmic`` encode the others by binaries; ``refine`` and ``Adaptive`` add pieces where they are needed;
``geometric_tangents`` are those of the cost n^2/s. Knows no instance, model or solver.
"""

from allocator.linearization.approximate import approximate, chords, inner, outer, tangents
from allocator.linearization.brackets import Bracket, Part, bracket
from allocator.linearization.enclosures import Enclosure, exponential, logarithm
from allocator.linearization.encodings import Column, Encoding, Relation, Row, incremental, logarithmic
from allocator.linearization.functions import Fair, Function, Knee, Negated, Reciprocal, Shape, Smooth
from allocator.linearization.pieces import Certificate, Pieces, Segment, Side
from allocator.linearization.polyline import Polyline, Table, concave_envelope, convex_envelope
from allocator.linearization.refinement import Adaptive, Outcome, Range, refine
from allocator.linearization.share_cost import ShareCost, geometric_tangents, grid_error, ln_100, share_range

__all__ = [
    "Adaptive",
    "Bracket",
    "Certificate",
    "Column",
    "Enclosure",
    "Encoding",
    "Fair",
    "Function",
    "Knee",
    "Negated",
    "Outcome",
    "Part",
    "Pieces",
    "Polyline",
    "Range",
    "Reciprocal",
    "Relation",
    "Row",
    "Segment",
    "Shape",
    "ShareCost",
    "Side",
    "Smooth",
    "Table",
    "approximate",
    "bracket",
    "chords",
    "concave_envelope",
    "convex_envelope",
    "exponential",
    "geometric_tangents",
    "grid_error",
    "incremental",
    "inner",
    "ln_100",
    "logarithm",
    "logarithmic",
    "outer",
    "refine",
    "share_range",
    "tangents",
]
