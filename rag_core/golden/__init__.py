"""The golden set: read it, check it, judge by it, and keep its floor. Pure."""
