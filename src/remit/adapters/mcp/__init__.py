"""Remit's own MCP server: the tools by which agents in a host turn to Remit."""
