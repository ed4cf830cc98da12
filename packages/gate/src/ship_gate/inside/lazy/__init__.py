"""Iterables, iterators and callables at the two ends of a call."""
