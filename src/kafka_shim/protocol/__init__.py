"""Converts bytes to messages and back, without sockets, cluster or clock."""
