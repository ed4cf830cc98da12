"""Agents: the loop, their tools and their workspace."""
