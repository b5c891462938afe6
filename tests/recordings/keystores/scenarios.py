"""Changes of a listener's key store and trust store while the broker runs (KIP-226, KIP-978)."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from tests.recordings.keystores.stores import OTHER_PASSWORD, PASSWORD

L: Final = "listener.name.ssl.ssl."
KEYSTORE: Final = {
    "ssl.keystore.type": "PKCS12",
    "ssl.keystore.location": "@/one.p12",
    "ssl.keystore.password": PASSWORD,
    "ssl.key.password": PASSWORD,
}
TRUSTSTORE: Final = {
    "ssl.truststore.type": "PKCS12",
    "ssl.truststore.location": "@/trust-home.p12",
    "ssl.truststore.password": PASSWORD,
    "ssl.client.auth": "requested",
}
BOTH: Final = KEYSTORE | TRUSTSTORE
OF_LISTENER: Final = {f"listener.name.ssl.{name}": value for name, value in BOTH.items()}
PEM: Final = {
    "ssl.keystore.type": "PEM",
    "ssl.keystore.location": "@/one.pem",
    "ssl.truststore.type": "PEM",
    "ssl.truststore.location": "@/trust-home.pem",
    "ssl.client.auth": "requested",
}
ALLOWED: Final = {"ssl.allow.dn.changes": "true", "ssl.allow.san.changes": "true"}
BETWEEN_BROKERS: Final = {"inter.broker.listener.name": "SSL"}
_PEM_SINCE: Final = (2, 7)


class Alter(NamedTuple):
    """Alter settings of the broker; None removes one. `@/` is the folder of the stores.

    A value that begins with `@=` is the content of a file there.
    """

    settings: Mapping[str, str | None]
    validate_only: bool = False
    replaces_all: bool = False
    """AlterConfigs instead of IncrementalAlterConfigs."""


class Copy(NamedTuple):
    """Replace the content of a file."""

    source: str
    target: str


class Look(NamedTuple):
    """Connect: which certificate the broker has, and whether it serves a client that has one."""

    client: str = ""


class Describe(NamedTuple):
    """Show the settings of listeners."""


Step = Alter | Copy | Look | Describe


class Scenario(NamedTuple):
    """Steps on a broker with these settings."""

    steps: tuple[Step, ...]
    settings: Mapping[str, str] = BOTH
    since: tuple[int, ...] = (2, 3)  # IncrementalAlterConfigs


def _to(store: str, **more: str | None) -> Alter:
    """Alter the location of the key store, and further settings of the listener."""
    settings = {"keystore_location": f"@/{store}", **more}
    return Alter({L + name.replace("_", "."): value for name, value in settings.items()})


def _trust(store: str, **more: str | None) -> Alter:
    settings = {"truststore_location": f"@/{store}", **more}
    return Alter({L + name.replace("_", "."): value for name, value in settings.items()})


CLIENTS: Final = (Look("client"), Look("stranger"))
_NAMES: Final = tuple(
    step
    for store in ("again", "renamed", "moved", "nameless", "one")
    for step in (_to(f"{store}.p12"), Look())
)
_ERRORS: Final = (
    _to("missing.p12"),
    _to("broken"),
    _to("secret.p12"),
    _to("one.pem"),
    _to("one.p12", keystore_password="wrong"),
    _to("one.p12", key_password="wrong"),
    _to("one.p12", keystore_type="PEM"),
    _to("one.p12", keystore_type="nonsense"),
    _to("trust-home.p12"),
    Alter({L + "keystore.location": ""}),
    Look(),
)
_PATH: Final = (
    Copy("one.p12", "live.p12"),
    _to("live.p12"),
    Look(),
    Copy("again.p12", "live.p12"),
    Look(),
)

SCENARIOS: Final = {
    "keystore": Scenario((Look(), _to("again.p12"), Look(), Describe(), *CLIENTS)),
    "keystore-of-listener": Scenario(
        (Look(), _to("again.p12"), Look(), _to("renamed.p12"), Look(), Describe()), OF_LISTENER
    ),
    "password": Scenario(
        (
            _to("secret.p12", keystore_password=OTHER_PASSWORD),
            _to("secret.p12", keystore_password=OTHER_PASSWORD, key_password=OTHER_PASSWORD),
            Look(),
            Describe(),
        )
    ),
    "password-without-encoder": Scenario(
        (_to("one.p12", keystore_password=PASSWORD), _to("again.p12"), Look()),
        BOTH | {"password.encoder.secret": ""},
    ),
    "names": Scenario(_NAMES),
    "names-wider": Scenario(
        (
            _to("wider.p12"),
            Look(),
            _to("one.p12"),
            Alter({L + "keystore.location": None}),
            Alter({"message.max.bytes": "2000000"}),
            Look(),
        ),
        dict(BOTH),
    ),
    "names-allowed": Scenario(_NAMES, BOTH | ALLOWED),
    "names-allowed-of-listener": Scenario(
        _NAMES, BOTH | {f"listener.name.ssl.{name}": value for name, value in ALLOWED.items()}
    ),
    "names-allowed-later": Scenario(
        (
            Alter({"ssl.allow.dn.changes": "true"}),
            Alter({L + "allow.dn.changes": "true"}),
            _to("renamed.p12"),
            _to("renamed.p12", allow_dn_changes="true"),
            Look(),
        )
    ),
    "errors": Scenario(_ERRORS),
    "errors-validated": Scenario(
        (
            *(
                step._replace(validate_only=True) if isinstance(step, Alter) else step
                for step in (*_ERRORS, _to("renamed.p12"), _to("again.p12"), Look())
            ),
        )
    ),
    "replaced-all": Scenario(
        (
            _to("again.p12")._replace(replaces_all=True),
            Look(),
            _trust("trust-away.p12")._replace(replaces_all=True),
            *CLIENTS,
            Alter({}, replaces_all=True),
            *CLIENTS,
        ),
        since=(1, 1),
    ),
    "removed": Scenario(
        (
            _to("again.p12"),
            Look(),
            Alter({L + "keystore.location": None}),
            Look(),
        )
    ),
    "same-path": Scenario((*_PATH, _to("live.p12"), Look())),
    "same-path-other-setting": Scenario(
        (*_PATH, Alter({"message.max.bytes": "2000000"}), Look(), Describe())
    ),
    "same-path-renamed": Scenario(
        (*_PATH, Copy("renamed.p12", "live.p12"), _to("live.p12"), Look())
    ),
    "same-path-broken": Scenario((*_PATH, Copy("broken", "live.p12"), _to("live.p12"), Look())),
    "truststore": Scenario(
        (
            *CLIENTS,
            _trust("trust-away.p12"),
            *CLIENTS,
            _trust("missing.p12"),
            _trust("broken"),
            _trust("trust-home.p12", truststore_password="wrong"),
            _trust("trust-home.pem"),
            Alter({L + "truststore.location": ""}),
            *CLIENTS,
            _trust("trust-home.p12"),
            *CLIENTS,
        )
    ),
    "truststore-added": Scenario(
        (
            _trust("trust-home.p12", truststore_type="PKCS12", truststore_password=PASSWORD),
            Look("client"),
        ),
        KEYSTORE | {"ssl.client.auth": "requested"},
    ),
    "client-auth": Scenario(
        (
            Alter({L + "client.auth": "required"}),
            Look(),
            Alter({L + "client.auth": "nonsense"}),
            _to("again.p12", client_auth="required"),
            Look(),
            Describe(),
        )
    ),
    "other-listeners": Scenario(
        (
            Alter({"listener.name.other.ssl.keystore.location": "@/missing.p12"}),
            Alter({"listener.name.plaintext.ssl.keystore.location": "@/missing.p12"}),
            Alter({"listener.name.SSL.ssl.keystore.location": "@/again.p12"}),
            Look(),
            Alter({"ssl.keystore.location": "@/again.p12"}),
            Look(),
            Alter({"listener.name.other.ssl.client.auth": "nonsense"}),
            Alter({"listener.name.plaintext.ssl.client.auth": "nonsense"}),
            Alter({"listener.name.ssl.max.connections": "nonsense"}),
            Alter({"listener.name.ssl.no.such.setting": "x", "no.such.setting": "x"}),
            Describe(),
        )
    ),
    "pem": Scenario(
        (
            Look("client"),
            _to("again.pem"),
            Look("client"),
            _to("renamed.pem"),
            _to("missing.pem"),
            _to("broken"),
            _to("again.crt"),
            _trust("trust-away.pem"),
            *CLIENTS,
            _trust("broken"),
            _to("again.p12", keystore_type="PKCS12", keystore_password=PASSWORD),
            _to(
                "one.p12",
                keystore_type="PKCS12",
                keystore_password=PASSWORD,
                key_password=PASSWORD,
            ),
            Look("client"),
        ),
        PEM,
        _PEM_SINCE,
    ),
    "pem-texts": Scenario(
        (
            Alter(
                {
                    L + "keystore.type": "PEM",
                    L + "keystore.certificate.chain": "@=again.crt",
                    L + "keystore.key": "@=again.key",
                }
            ),
            Alter(
                {L + "truststore.type": "PEM", L + "truststore.certificates": "@=trust-away.pem"}
            ),
            *CLIENTS,
        ),
        BOTH,
        _PEM_SINCE,
    ),
    "between-brokers": Scenario(
        (
            _to("again.p12"),
            Look(),
            _to("away.p12"),
            Look(),
            _to("away.p12", truststore_location="@/trust-away.p12"),
            Look(),
            _trust("trust-away.p12"),
            _trust("trust-both.p12"),
            _trust("trust-away.p12"),
            _to("away.p12"),
            Look("stranger"),
            _trust("trust-away.p12"),
            *CLIENTS,
        ),
        BOTH | BETWEEN_BROKERS,
    ),
    "other-authority": Scenario((_to("away.p12"), Look())),
}
