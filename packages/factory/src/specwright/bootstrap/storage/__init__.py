"""Where the records of a project are kept (design: store-layout)."""
