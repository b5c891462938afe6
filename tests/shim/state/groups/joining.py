"""JoinGroup requests of classic members."""

from typing import Any

from kafka_shim.shim.state.groups.classic.classic_members import JoinRequest


def join_request(**changed: Any) -> JoinRequest:
    """Return the request of a new consumer with one protocol, with these fields changed."""
    fields: dict[str, Any] = {
        "member_id": "",
        "instance_id": None,
        "client_id": "c",
        "client_host": "/127.0.0.1",
        "session_timeout_ms": 10_000,
        "rebalance_timeout_ms": 60_000,
        "protocol_type": "consumer",
        "protocols": (("range", b""),),
    }
    return JoinRequest(**{**fields, **changed})
