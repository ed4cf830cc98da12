"""The MCP server: the gate as tools of a coding agent, on the same functions as the command line (design: mcp-server)."""
