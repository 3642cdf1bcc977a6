"""Foreign file formats, in and out: one module a format. Knows no method but the one that states programs."""
