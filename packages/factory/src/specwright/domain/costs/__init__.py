"""What model answers cost, and what they may cost."""
