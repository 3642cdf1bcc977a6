"""Charts as SVG text, written directly. Take plain numbers and texts; know no records, no plans, no page.

Colours are classes (``s0`` to ``s7`` for series, ``h0`` to ``h7`` for heat) that the page's style sheet resolves, so
that one drawing serves light, dark and print. Every chart carries a title and a description.
"""
