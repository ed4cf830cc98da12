"""Web search services behind the port `WebSearch`."""
