"""The workbench's first address."""
