"""Pictures of what was measured: data in, figure out; no page, no clock, no database."""
