"""The ProductSpec: its model, its text form, and whether it is complete (design: product-spec)."""
