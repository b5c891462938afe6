"""Bugs that are planted into copies of clients and of the shim, and must be found."""
