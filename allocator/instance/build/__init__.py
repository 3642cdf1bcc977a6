"""From a checked document to entities: references, expansion, inheritance, integer scales. Knows no file syntax."""
