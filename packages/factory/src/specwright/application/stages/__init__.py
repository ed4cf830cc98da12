"""The stages of a run: product, engineering, release; and where a project stands."""
