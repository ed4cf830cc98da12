"""The queue of projects that wait for a worker (design: workers)."""
