"""The interfaces of a product (command, HTTP API, MCP server): records, rules, rendered document (design: release)."""
