"""TLS of the command line's client; a module of its own so that others do not wait for ssl."""

import socket
import ssl

from kafka_shim.shim.client.config import Trust
from kafka_shim.shim.errors import ConfigError


def wrap(plain: socket.socket, host: str, trust: Trust) -> ssl.SSLSocket:
    """The same connection, encrypted; OSError (ssl.SSLError) if the server is not accepted."""
    return context_of(trust).wrap_socket(plain, server_hostname=host)


def context_of(trust: Trust) -> ssl.SSLContext:
    """What a client's connections are made with; ConfigError if a file cannot be used."""
    context = ssl.create_default_context()
    if trust.location is not None or trust.certificates is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        if trust.location is not None or trust.certificates is not None:
            context.load_verify_locations(cafile=trust.location, cadata=trust.certificates)
        if trust.key_location is not None:
            context.load_cert_chain(trust.key_location, password=trust.key_password)
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot use the TLS keys or certificates given: {error}") from error
    context.check_hostname = trust.checks_host
    return context
