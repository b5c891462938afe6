"""Signed tokens for authentications (KIP-768), and the keys with which brokers verify them."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kafka_shim.shim.errors import ConfigError
from kafka_shim.text.extras import requires

if TYPE_CHECKING:
    from joserfc.jwk import ECKey

ISSUER, AUDIENCE = "https://issuer.example", "kafka"
KNOWN, UNKNOWN = "known", "unknown"
"""Names of keys: the one that brokers have, and another one with the same id."""
JWKS_URL = "sasl.oauthbearer.jwks.endpoint.url"
_ALGORITHM, _KEY_ID = "ES256", "suite"


def write_jwks(folder: Path) -> Mapping[str, str]:
    """Write the broker's keys to a folder; return the settings of a broker that checks tokens."""
    keys = folder / "keys.json"
    keys.write_text(json.dumps({"keys": [_signing_key(KNOWN).as_dict(private=False)]}))
    return {
        JWKS_URL: keys.as_uri(),
        "sasl.oauthbearer.expected.issuer": ISSUER,
        "sasl.oauthbearer.expected.audience": AUDIENCE,
    }


def sign_jwt(claims: Mapping[str, Any], key: str = KNOWN) -> str:
    """Return a token with these claims, signed with one of the keys."""
    from joserfc import jws  # noqa: PLC0415 - an extra

    header = {"alg": _ALGORITHM, "kid": _KEY_ID}
    payload = json.dumps(claims).encode()
    return jws.serialize_compact(header, payload, _signing_key(key), algorithms=[_ALGORITHM])


@cache
def _signing_key(name: str) -> "ECKey":
    """Make the key of this name. Raise ConfigError without the extra that signs."""
    del name
    try:
        from joserfc.jwk import ECKey  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ConfigError(requires("signing tokens", "oauth")) from error
    return ECKey.generate_key("P-256", {"kid": _KEY_ID, "alg": _ALGORITHM, "use": "sig"})
