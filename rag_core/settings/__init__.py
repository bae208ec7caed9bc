"""Settings of a search: presets, what a project adopted or committed, and one way to find which are in force."""
