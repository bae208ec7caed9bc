"""The shapes that programs see: one for the command line, the HTTP API and the agent tools."""
