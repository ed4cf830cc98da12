"""Models: real ones and scripted ones."""
