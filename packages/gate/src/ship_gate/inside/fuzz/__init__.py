"""The contract fuzz inside the sandbox: draws inputs, calls the module, and judges what it did."""
