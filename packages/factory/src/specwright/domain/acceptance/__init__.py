"""Approved examples and properties: records, rules, and their use at a module's gate (design: executable-spec)."""
