"""Forms in which results leave: files and text that other programs and people read."""
