"""TLS of the command line's client, in a separate module so that ssl is imported only if needed."""

import socket
import ssl

from kafka_shim.client.config import Trust
from kafka_shim.shim.errors import ConfigError


def wrap_socket_with_tls(plain: socket.socket, host: str, trust: Trust) -> ssl.SSLSocket:
    """Return the connection with TLS. Raise ssl.SSLError if the server is not accepted."""
    return client_tls_context(trust).wrap_socket(plain, server_hostname=host)


def client_tls_context(trust: Trust) -> ssl.SSLContext:
    """Return the TLS context of a client. Raise ConfigError if a file cannot be used."""
    context = ssl.create_default_context()
    if trust.location is not None or trust.certificates is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # as Java's clients do
    try:
        if trust.location is not None or trust.certificates is not None:
            context.load_verify_locations(cafile=trust.location, cadata=trust.certificates)
        if trust.key_location is not None:
            context.load_cert_chain(trust.key_location, password=trust.key_password)
    except (OSError, ValueError) as error:
        raise ConfigError(f"cannot use the TLS keys or certificates given: {error}") from error
    context.check_hostname = trust.checks_host
    return context
