"""What runs in the sandbox: it imports a package, and runs its examples, its tests, their mutants and drawn calls."""
