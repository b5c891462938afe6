"""Who a client is by its certificate."""

import asyncio

from kafka_shim.shim.request.session import Session
from kafka_shim.shim.state.cluster import Cluster


def identify(transport: asyncio.Transport, session: Session, cluster: Cluster) -> str:
    """Set the principal by the mapping rules for a verified client certificate (KIP-371).

    Return the error text; empty for success.
    """
    tls = transport.get_extra_info("ssl_object")
    certificate = None if tls is None else tls.getpeercert(binary_form=True)
    if not certificate or session.listener.protocol.sasl:
        return ""
    from kafka_shim.shim.tls.principal_mapping import principal_of  # noqa: PLC0415 - for TLS alone

    try:
        session.belongs_to(principal_of(certificate, cluster.principal_rules))
    except (LookupError, ValueError) as error:
        return str(error)
    return ""
