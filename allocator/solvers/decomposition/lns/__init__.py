"""Large neighbourhood search: free a part of a plan, solve that part again exactly, keep what is better."""
