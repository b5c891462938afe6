"""Sockets: listeners, connections, and how clients wait for them."""
