"""Documents that people write: YAML and JSON to plain trees of text, and problems with their place. Knows no schema."""
