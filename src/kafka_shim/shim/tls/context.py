"""TLS contexts of Kafka's `ssl.*` settings: PEM files or texts, PKCS12 stores, generated ones.

DEVIATION: client certificates with the name of their issuer, and the choice of TLS 1.3 suites.
JKS is not supported: convert with `keytool -importkeystore ... -deststoretype PKCS12`.
"""

import contextlib
import re
import ssl
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.tls import generated_certificates
from kafka_shim.shim.tls.alerts import JavaAlertContext
from kafka_shim.text.logs import Log

log = Log("shim.tls")

_PROTOCOLS = {"TLSv1.2": ssl.TLSVersion.TLSv1_2, "TLSv1.3": ssl.TLSVersion.TLSv1_3}
_OLD_PROTOCOLS = ("TLSv1", "TLSv1.1", "SSLv3", "SSLv2Hello")
"""Java 17 knows them but has them disabled."""
_SUITE = re.compile(
    r"TLS_(?P<exchange>(?:(?:ECDHE|DHE)_(?:RSA|ECDSA))|RSA)_WITH_"
    r"(?:AES_(?P<size>128|256)_(?P<mode>GCM|CBC)_(?P<hash>SHA(?:256|384)?)"
    r"|CHACHA20_POLY1305_SHA256)"
)
_WITHOUT_EFFECT = {
    "ssl.engine.factory.class",
    "ssl.keymanager.algorithm",
    "ssl.protocol",
    "ssl.provider",
    "ssl.secure.random.implementation",
    "ssl.trustmanager.algorithm",
}
_STORE_TYPES = ("JKS", "PEM", "PKCS12")
_CLIENT_AUTH = {
    "none": ssl.CERT_NONE,
    "requested": ssl.CERT_OPTIONAL,
    "required": ssl.CERT_REQUIRED,
}


def build_server_context(settings: Mapping[str, str], listener: str, *hosts: str) -> ssl.SSLContext:
    """Return a listener's context; `listener.name.<name>.ssl.*` takes precedence over `ssl.*`.

    A generated certificate is for these hosts and the local ones.
    """
    listener_settings = settings_of_listener(settings, listener)
    context = JavaAlertContext(ssl.PROTOCOL_TLS_SERVER)
    # as in Java: any certificate of the truststore is trusted, not only self-signed authorities
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    mode = listener_settings.get("ssl.client.auth", "none")
    if mode not in _CLIENT_AUTH:
        raise ConfigError(f"ssl.client.auth `{mode}`: expected {', '.join(_CLIENT_AUTH)}")
    try:
        if has_keystore(listener_settings):
            load_keystore(context, listener_settings)
        else:
            generated_certificates.load_generated_certificates(
                context, listener_settings.get("shim.tls.directory"), hosts
            )
        load_truststore(context, listener_settings)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"listener {listener}: cannot set up TLS: {_load_error_text(error)}"
        ) from error
    context.verify_mode = _CLIENT_AUTH[mode]
    if context.verify_mode != ssl.CERT_NONE:
        context.record_client_certificates()
    _restrict_protocols(context, listener_settings)
    ignored = sorted(listener_settings.keys() & _WITHOUT_EFFECT)
    if ignored:
        log.warning("tls settings without effect here", listener=listener, settings=ignored)
    return context


def _restrict_protocols(context: ssl.SSLContext, listener_settings: Mapping[str, str]) -> None:
    """Enable only the protocols and cipher suites of the settings, and TLS 1.2 or later."""
    protocols = _split_list(listener_settings.get("ssl.enabled.protocols", "")) or list(_PROTOCOLS)
    unknown = [name for name in protocols if name not in (*_PROTOCOLS, *_OLD_PROTOCOLS)]
    if unknown:
        raise ConfigError(
            f"ssl.enabled.protocols: unknown protocol `{unknown[0]}`: expected"
            f" {' or '.join(_PROTOCOLS)}"
        )
    suites = _split_list(listener_settings.get("ssl.cipher.suites", ""))
    newest = {suite for suite in suites if "_WITH_" not in suite}
    older = [_openssl_suite_name(suite) for suite in suites if "_WITH_" in suite]
    has_suites = {"TLSv1.2": not suites or bool(older), "TLSv1.3": not suites or bool(newest)}
    enabled = [
        version for name, version in _PROTOCOLS.items() if has_suites[name] and name in protocols
    ]
    if not enabled:
        raise ConfigError(
            "ssl.enabled.protocols and ssl.cipher.suites leave neither TLSv1.2 nor TLSv1.3"
        )
    context.minimum_version, context.maximum_version = enabled[0], enabled[-1]
    _set_ciphers(context, newest, older)


def _set_ciphers(
    context: ssl.SSLContext, tls_1_3_suites: set[str], older_suites: Sequence[str]
) -> None:
    known = {cipher["name"] for cipher in context.get_ciphers() if cipher["name"][:4] == "TLS_"}
    if tls_1_3_suites - known:
        raise ConfigError(f"ssl.cipher.suites: unknown suite `{min(tls_1_3_suites - known)}`")
    if tls_1_3_suites and tls_1_3_suites != known:
        log.warning(
            "all TLS 1.3 suites are enabled: they cannot be chosen", suites=sorted(tls_1_3_suites)
        )
    if older_suites:
        try:
            context.set_ciphers(":".join(older_suites))
        except ssl.SSLError:
            raise ConfigError(
                f"ssl.cipher.suites: none of {', '.join(older_suites)} is known"
            ) from None


def _openssl_suite_name(suite: str) -> str:
    """Return OpenSSL's name of a suite up to TLS 1.2, such as ECDHE-RSA-AES128-GCM-SHA256."""
    match = _SUITE.fullmatch(suite)
    if match is None:
        raise ConfigError(f"ssl.cipher.suites: unknown suite `{suite}`")
    exchange = "" if match["exchange"] == "RSA" else match["exchange"].replace("_", "-") + "-"
    if match["size"] is None:
        return f"{exchange}CHACHA20-POLY1305"
    mode = "" if match["mode"] == "CBC" else f"{match['mode']}-"
    return f"{exchange}AES{match['size']}-{mode}{match['hash']}"


def _split_list(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _load_error_text(error: OSError | ValueError) -> str:
    if isinstance(error, ssl.SSLError) or not isinstance(error, OSError):
        return str(error)
    place = "" if error.filename is None else f"`{error.filename}`: "
    return f"{place}{error.strerror or error}"


def settings_of_listener(settings: Mapping[str, str], listener: str) -> dict[str, str]:
    prefix = f"listener.name.{listener.lower()}."
    general = {
        key: value for key, value in settings.items() if key.startswith(("ssl.", "shim.tls."))
    }
    special = {
        key.removeprefix(prefix): value
        for key, value in settings.items()
        if key.startswith(f"{prefix}ssl.")
    }
    return general | special


def has_keystore(listener_settings: Mapping[str, str]) -> bool:
    """Return whether a listener has a key store of its own, not a generated certificate."""
    return any(key.startswith("ssl.keystore.") for key in listener_settings)


def keystore_pem(listener_settings: Mapping[str, str]) -> str:
    """Return key and certificates of a key store. Raise ConfigError if it cannot be read."""
    chain = listener_settings.get("ssl.keystore.certificate.chain")
    location = listener_settings.get("ssl.keystore.location", "")
    store_password = listener_settings.get("ssl.keystore.password")
    key_password = listener_settings.get("ssl.key.password")
    if chain is not None and location:
        raise ConfigError("ssl.keystore.location and ssl.keystore.certificate.chain: remove one")
    if chain is not None:
        return chain + "\n" + listener_settings.get("ssl.keystore.key", "")
    if not location:
        raise ConfigError("ssl.keystore.location is missing: name a PEM file or a PKCS12 store")
    with _naming_setting_in_errors(f"ssl.keystore.location `{location}`"):
        if _is_pem("ssl.keystore.type", listener_settings):
            return Path(location).read_text(encoding="ascii")
        if store_password and key_password and store_password != key_password:
            raise ValueError("ssl.key.password is not the password of the key")
        return generated_certificates.pkcs12_to_pem(Path(location), store_password or key_password)


def load_keystore(context: ssl.SSLContext, listener_settings: Mapping[str, str]) -> None:
    """Load the key store from a temporary file, since the standard library reads only files."""
    pem = keystore_pem(listener_settings)
    location = listener_settings.get("ssl.keystore.location")
    store = f"ssl.keystore.location `{location}`" if location else "the key store"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "identity.pem"
        path.touch(mode=0o600)
        path.write_text(pem)
        try:
            # without a password the library would ask for one at the terminal
            context.load_cert_chain(path, password=listener_settings.get("ssl.key.password", ""))
        except ssl.SSLError as error:
            raise ConfigError(
                f"{store} holds no PEM key and certificate that go together, or the"
                f" password is not the one of the key ({error.reason or 'not PEM'})"
            ) from error


def load_truststore(context: ssl.SSLContext, listener_settings: Mapping[str, str]) -> None:
    """Let a context trust the certificates of the trust store, if the listener has one."""
    text = listener_settings.get("ssl.truststore.certificates")
    location = listener_settings.get("ssl.truststore.location")
    if text is not None and location is not None:
        raise ConfigError("ssl.truststore.location and ssl.truststore.certificates: remove one")
    if text is not None:
        with _naming_setting_in_errors("ssl.truststore.certificates"):
            context.load_verify_locations(cadata=text)
    elif location is not None:
        with _naming_setting_in_errors(f"ssl.truststore.location `{location}`"):
            if _is_pem("ssl.truststore.type", listener_settings):
                pem = Path(location).read_text(encoding="ascii")
            else:
                password = listener_settings.get("ssl.truststore.password")
                pem = generated_certificates.pkcs12_to_pem(Path(location), password)
            context.load_verify_locations(cadata=pem)


def _is_pem(type_setting: str, listener_settings: Mapping[str, str]) -> bool:
    """Return whether a store is PEM. Raise ConfigError for its type or password, as Kafka does."""
    store = type_setting.removesuffix(".type")
    kind = listener_settings.get(type_setting)
    if kind is None:
        return listener_settings[f"{store}.location"].endswith(".pem")
    if kind.upper() not in _STORE_TYPES:
        raise ConfigError(f"{type_setting} `{kind}`: expected one of {', '.join(_STORE_TYPES)}")
    if kind.upper() == "PEM" and f"{store}.password" in listener_settings:
        raise ConfigError(
            f"{store}.password: PEM has no password of a store; remove the setting (that of an"
            " encrypted key is ssl.key.password)"
        )
    return kind.upper() == "PEM"


@contextlib.contextmanager
def _naming_setting_in_errors(setting: str) -> Iterator[None]:
    """Raise ConfigError, which begins with the setting, for files and texts that are invalid."""
    try:
        yield
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"{setting}: {reason}") from error
