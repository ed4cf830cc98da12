"""Reading Python source without running it."""
