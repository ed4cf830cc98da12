"""`python -m ship_gate`: the command `shipgate`."""

from ship_gate.cli import run

if __name__ == "__main__":
    run()
