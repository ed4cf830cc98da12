"""Use cases: what the factory does with its ports, without knowing what stands behind them."""
