"""How a product is used from outside Python: its interfaces, their rules, what is rendered from them (design: release)."""
