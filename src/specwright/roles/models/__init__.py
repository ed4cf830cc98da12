"""Models: real ones, scripted ones, recordings."""
