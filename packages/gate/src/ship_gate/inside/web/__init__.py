"""The network that a module finds in the sandbox: hosts whose answers a test scripts, and no other."""
