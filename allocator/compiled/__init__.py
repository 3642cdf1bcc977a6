"""Arrays of an instance under a model, and the way back to a plan. Blind to the checker and to every solver."""
