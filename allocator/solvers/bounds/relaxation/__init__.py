"""The linear relaxation of a compiled instance, aggregated over exchangeable members and nodes alike."""
