"""Reading and writing `state_store/`."""
