"""Ids that differ between two runs, and which elements of two messages correspond."""
