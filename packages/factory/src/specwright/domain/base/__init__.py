"""Small pure functions and base classes for the rest of the domain."""
