"""Files of the tests of a released source tree that are the same for every product (design: release)."""
