"""Requests on new connections before, during and after a log-in, in any order."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.api_versions import ApiVersionsRequest
from kafka_shim.protocol.messages.list_groups import ListGroupsRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest
from kafka_shim.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from kafka_shim.protocol.messages.sasl_handshake import SaslHandshakeRequest

USER: Final = "alice"
PASSWORD: Final = "alice-secret"


class Ask(NamedTuple):
    """A request; if `version` has no definition, the request is encoded in version `form`."""

    api: ApiKey
    version: int
    request: Any
    form: int | None = None


class Raw(NamedTuple):
    """Bytes to send as a frame."""

    payload: bytes


class Scenario(NamedTuple):
    """Requests on a connection; `renews`: a second log-in, on a session with a lifetime."""

    steps: Sequence[Ask | Raw]
    is_sasl: bool = True
    renews: bool = False


def _token(password: str = PASSWORD, behalf: str = "") -> bytes:
    return f"{behalf}\0{USER}\0{password}".encode()


def _handshake(mechanism: str = "PLAIN", version: int = 1) -> Ask:
    return Ask(ApiKey.SASL_HANDSHAKE, version, SaslHandshakeRequest(mechanism))


def _proof(payload: bytes, version: int = 0) -> Ask:
    return Ask(ApiKey.SASL_AUTHENTICATE, version, SaslAuthenticateRequest(payload))


VERSIONS: Final = Ask(ApiKey.API_VERSIONS, 0, ApiVersionsRequest())
_NEW_VERSIONS: Final = Ask(ApiKey.API_VERSIONS, 3, ApiVersionsRequest("a", "1"))
_UNKNOWN_VERSIONS: Final = Ask(ApiKey.API_VERSIONS, 99, ApiVersionsRequest("a", "1"), 3)
_METADATA: Final = Ask(ApiKey.METADATA, 1, MetadataRequest(topics=[]))
_GROUPS: Final = Ask(ApiKey.LIST_GROUPS, 0, ListGroupsRequest())
_OTHERS: Final[Mapping[str, Ask | Raw]] = {
    "versions": VERSIONS,
    "new-versions": _NEW_VERSIONS,
    "unknown-versions": _UNKNOWN_VERSIONS,
    "handshake": _handshake(),
    "handshake-0": _handshake(version=0),
    "other-mechanism": _handshake("SCRAM-SHA-256"),
    "unknown-handshake": Ask(ApiKey.SASL_HANDSHAKE, 9, SaslHandshakeRequest("PLAIN"), 1),
    "proof": _proof(_token()),
    "unknown-proof": Ask(ApiKey.SASL_AUTHENTICATE, 99, SaslAuthenticateRequest(_token()), 1),
    "metadata": _METADATA,
    "raw": Raw(_token()),
    "nothing": Raw(b""),
}
_GOOD: Final = (_handshake(), _proof(_token()))

SCENARIOS: Final = {
    **{f"first-{name}": Scenario((step, VERSIONS)) for name, step in _OTHERS.items()},
    **{
        f"handshake-then-{name}": Scenario((_handshake(), step, VERSIONS))
        for name, step in _OTHERS.items()
    },
    **{
        f"handshake-0-then-{name}": Scenario((_handshake(version=0), step, _GROUPS))
        for name, step in _OTHERS.items()
    },
    **{
        f"logged-in-then-{name}": Scenario((*_GOOD, step, _GROUPS))
        for name, step in _OTHERS.items()
    },
    **{
        f"versions-then-{name}": Scenario((VERSIONS, step, VERSIONS))
        for name, step in _OTHERS.items()
    },
    **{
        f"{mechanism or 'no'}-mechanism-{version}": Scenario(
            (VERSIONS, _handshake(mechanism, version), _handshake(), _proof(_token()))
        )
        for mechanism in ("GSSAPI", "plain", "")
        for version in (0, 1)
    },
    **{
        f"{name}-in-version-{version}": Scenario((_handshake(), _proof(payload, version), VERSIONS))
        for name, payload in {
            "good": _token(),
            "wrong": _token("wrong"),
            "on-behalf-of-oneself": _token(behalf=USER),
            "on-behalf-of-another": _token(behalf="bob"),
            "without-password": _token(""),
            "two-parts": b"alice\0alice-secret",
            "four-parts": _token() + b"\0",
            "not-utf-8": b"\0\xff\0\xff",
            "empty": b"",
        }.items()
        for version in (0, 1)
    },
    **{
        f"raw-{name}": Scenario((_handshake(version=0), Raw(payload), _GROUPS))
        for name, payload in {"good": _token(), "wrong": _token("wrong"), "text": b"abc"}.items()
    },
    **{
        f"plaintext-{name}": Scenario((step, VERSIONS), is_sasl=False)
        for name, step in _OTHERS.items()
    },
    **{
        f"renewal-{name}": Scenario((*_GOOD, *steps, _METADATA), renews=True)
        for name, steps in {
            "good": _GOOD,
            "soon-again": (*_GOOD, _handshake()),
            "soon-by-another": (*_GOOD, _handshake("SCRAM-SHA-256")),
            "wrong": (_handshake(), _proof(_token("wrong"))),
            "begun": (_handshake(), _METADATA),
            "by-another": (_handshake("SCRAM-SHA-256"), _proof(_token())),
            "begun-by-another": (_handshake("SCRAM-SHA-256"), _METADATA),
            "by-an-unknown-one": (_handshake("GSSAPI"),),
        }.items()
    },
}
