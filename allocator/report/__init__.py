"""What a person reads of a result: summary, tables. Reads results and instances; needs no solver."""
