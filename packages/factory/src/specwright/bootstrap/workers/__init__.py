"""Projects driven by workers: what a command leaves for them, and what they do with it (design: workers)."""
