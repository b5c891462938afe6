"""Parses `host:port`, as brokers and proxies print their addresses."""

import socket


def split(address: str) -> tuple[str, int]:
    """Return the host and the port."""
    host, _, port = address.rpartition(":")
    return host, int(port)


def is_listening(address: str) -> bool:
    """Return whether the address accepts a connection."""
    try:
        socket.create_connection(split(address), 5).close()
    except ConnectionRefusedError:
        return False
    return True
