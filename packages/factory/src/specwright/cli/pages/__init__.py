"""What each command shows a person."""
