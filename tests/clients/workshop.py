"""Certificates, keys and tokens for log-ins, and the broker settings for them.

The settings are Kafka's own; the shim and a real Kafka get the same.
"""

import base64
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import trustme
from joserfc import jwt
from joserfc.jwk import RSAKey

from kafka_shim.client.client import connect
from kafka_shim.client.config import ClientConfig, Login as ClientLogin
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.create_delegation_token import (
    CreateDelegationTokenRequest,
)
from kafka_shim.shim.config import SecurityProtocol
from kafka_shim.shim.tls.generated_certificates import issue_identity_pem
from tests.clients.drivers.json_lines import Login

SASL = "SASL_PLAINTEXT"
KINDS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER", "delegation token", "mTLS")
"""The ways to log in, each as User:alice."""

USER = "alice"
PASSWORD = "alice-secret"
TOKEN_SECONDS = 3600
_MODULES = "org.apache.kafka.common.security"


class Workshop:
    """Writes certificates, keys and settings to a folder."""

    def __init__(self, folder: Path) -> None:
        self._authority = folder / "authority.pem"
        self._identity = folder / "alice.pem"
        authority = trustme.CA()
        authority.cert_pem.write_to_path(str(self._authority))
        server = folder / "server.pem"
        server.write_bytes(issue_identity_pem(authority, "broker", "127.0.0.1", "localhost"))
        self._identity.write_bytes(issue_identity_pem(authority, USER))
        self._key = RSAKey.generate_key(2048, {"kid": "one", "alg": "RS256"})
        keys = folder / "keys.json"
        keys.write_text(json.dumps({"keys": [self._key.as_dict(private=False)]}))
        self.settings: Mapping[str, str] = {
            "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER",
            "sasl.oauthbearer.jwks.endpoint.url": keys.as_uri(),
            "sasl.oauthbearer.expected.audience": "kafka",
            "sasl.oauthbearer.allow.unverified.issuer": "true",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.location": str(server),
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": str(self._authority),
            "ssl.client.auth": "required",
            "ssl.principal.mapping.rules": "RULE:^.*CN=([^,]+).*$/$1/",
            "group.share.heartbeat.interval.ms": "300",  # heartbeats assign partitions
            "group.share.min.heartbeat.interval.ms": "300",
        }
        self.real_settings: Mapping[str, str] = _login_modules()

    def login(self, kind: str, sasl_address: str) -> Login:
        """Return alice's log-in of this kind; request a delegation token if it needs one."""
        if kind == "mTLS":
            return Login("SSL", authority=str(self._authority), identity=str(self._identity))
        if kind == "OAUTHBEARER":
            return Login(SASL, kind, token=self._bearer_token())
        if kind == "delegation token":
            token_id, secret = _delegation_token(sasl_address)
            return Login(SASL, "SCRAM-SHA-256", token_id, secret, is_token=True)
        return Login(SASL, kind, USER, PASSWORD)

    def _bearer_token(self) -> str:
        now = int(datetime.now(UTC).timestamp())
        claims = {"sub": USER, "aud": "kafka", "iat": now, "exp": now + TOKEN_SECONDS}
        return jwt.encode({"alg": "RS256", "kid": "one"}, claims, self._key)


def _login_modules() -> dict[str, str]:
    """Return the settings with which a real Kafka accepts mechanisms other than PLAIN."""
    prefix = "listener.name.sasl_plaintext."
    bearer = f"{_MODULES}.oauthbearer"
    found = {
        f"{prefix}{name}.sasl.jaas.config": f"{_MODULES}.scram.ScramLoginModule required;"
        for name in ("scram-sha-256", "scram-sha-512")
    }
    return found | {
        f"{prefix}oauthbearer.sasl.jaas.config": f"{bearer}.OAuthBearerLoginModule required;",
        f"{prefix}oauthbearer.sasl.server.callback.handler.class": (
            f"{bearer}.OAuthBearerValidatorCallbackHandler"
        ),
    }


def _delegation_token(address: str) -> tuple[str, str]:
    """Create a delegation token of alice; return its id and its secret, for a SCRAM log-in."""
    config = ClientConfig(SecurityProtocol.SASL_PLAINTEXT, ClientLogin("PLAIN", USER, PASSWORD))
    with connect(address, config) as client:
        made = client.send_request(ApiKey.CREATE_DELEGATION_TOKEN, CreateDelegationTokenRequest())
    assert made.error_code == 0, made
    return made.token_id, base64.b64encode(made.hmac).decode()
