"""The studio: what a project is and asks, in a browser (design: studio)."""
