"""Whether an address, or the Host of a call, is this machine's own."""

import contextlib
import ipaddress


def is_loopback(host: str) -> bool:
    """Return whether a host is `localhost` or an address of this machine's loopback."""
    if host == "localhost":
        return True
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False


def is_loopback_host_header(host: str) -> bool:
    """Return whether the Host header, `127.0.0.1:8082` or `[::1]`, is an address of the loopback.

    A name of another site's own can lead to this machine, an address cannot be one.
    """
    name = host if host.endswith("]") else host.rpartition(":")[0] or host
    return is_loopback(name.removeprefix("[").removesuffix("]"))
