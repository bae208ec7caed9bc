"""Long work: begun by a page, a request or a command, done in a process of its own, followed by its row."""
