"""The lane `one-shot`: tasks that come next are drafted, and judged, in the requests of the first (design: one-shot)."""
