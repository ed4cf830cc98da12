"""Planning: asking for a plan, checking it, storing and locking it (design: planning)."""
