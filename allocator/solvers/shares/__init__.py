"""Best shares and granted fractions for a fixed placement."""
