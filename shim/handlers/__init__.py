"""One API a file."""
