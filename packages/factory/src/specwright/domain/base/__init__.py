"""Values and small pure functions that every part of the domain uses."""
