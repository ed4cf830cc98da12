"""The product spec: its records, its text form, and the checks of its completeness (design: product-spec)."""
