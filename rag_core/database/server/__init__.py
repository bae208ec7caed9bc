"""The embedded server: its account, its cluster, its locks, and the process that keeps it."""
