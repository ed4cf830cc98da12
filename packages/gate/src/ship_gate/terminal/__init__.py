"""What a person sees of a command: pages, findings, reports, and the one document of `--json`."""
