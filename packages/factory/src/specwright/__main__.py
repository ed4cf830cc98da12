"""`python -m specwright`, for when the script is not on PATH."""

from specwright.cli.main import run

if __name__ == "__main__":
    run()
