"""Driving a project to its next stop and back."""
