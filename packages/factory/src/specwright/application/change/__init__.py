"""Changing a released product: asked for, approved, carried out, released or abandoned."""
