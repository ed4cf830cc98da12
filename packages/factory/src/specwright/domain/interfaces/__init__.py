"""How a product is used from outside Python: its interfaces, their rules, and what is rendered from them (design: shell)."""
