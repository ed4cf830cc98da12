"""The shell of a product: the code that stands around its functions, the same in every wheel (design: release).

These modules go into a wheel as they are, beside `interface.json`, which is rendered from the contracts. They import
Python's standard library and each other, and no model writes any of them.
"""
