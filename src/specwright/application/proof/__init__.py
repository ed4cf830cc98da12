"""Is what was shipped still what was shipped, and where does it come from (F§5.2, D-20-03)?"""
