"""What the person approved by example: its records, its rules, and how modules are held to it (design: executable-spec)."""
