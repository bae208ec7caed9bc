"""How often a page looks at work that goes on elsewhere: rarely enough that looking costs the work nothing."""

LOOKED_AT_EVERY_S = 1.5
