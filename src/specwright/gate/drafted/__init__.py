"""What a model drafted of an adopted function, tried in the sandbox (design: adoption)."""
