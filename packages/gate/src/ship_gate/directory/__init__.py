"""A module directory on disk: layout, reading, verdict."""
