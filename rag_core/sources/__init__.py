"""Where text comes from: git repositories and session files."""
