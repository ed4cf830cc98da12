"""Commands for a beginning: help, the demo."""
