"""Goals as linear terms over the formulation's variables, one function per goal id."""
