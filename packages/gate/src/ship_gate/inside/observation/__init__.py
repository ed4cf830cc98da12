"""What the module's process notes of the module's effects and state while it is loaded and called."""
