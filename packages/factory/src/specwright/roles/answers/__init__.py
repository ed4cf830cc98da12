"""Reading a structured answer out of what a model said."""
