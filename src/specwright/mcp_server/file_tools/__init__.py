"""The tools that read and edit files, for a client without files of its own (design: mcp-server)."""
