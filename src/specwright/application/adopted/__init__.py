"""Module directories that enter a project as sealed modules (design: adopted-modules)."""
