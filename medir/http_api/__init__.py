"""The HTTP API, mounted under `/api` in the workbench's process."""
