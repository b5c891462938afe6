"""Bytes to messages and back; no sockets, no cluster, no clock."""
