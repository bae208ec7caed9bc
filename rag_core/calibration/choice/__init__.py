"""The honest choice: how far a contender must be ahead, and whether one is."""
