"""TLS contexts of Kafka's `ssl.*` settings: PEM files or texts, PKCS12 stores, generated ones.

JKS is not supported: convert with `keytool -importkeystore ... -deststoretype PKCS12`.
"""

import ssl
import tempfile
from collections.abc import Mapping
from pathlib import Path

from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.tls import selfmade

_CLIENT_AUTH = {
    "none": ssl.CERT_NONE,
    "requested": ssl.CERT_OPTIONAL,
    "required": ssl.CERT_REQUIRED,
}


def server_context(settings: Mapping[str, str], listener: str, host: str) -> ssl.SSLContext:
    """Return a listener's context; `listener.name.<name>.ssl.*` takes precedence over `ssl.*`."""
    own = _of_listener(settings, listener)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    # as in Java: any certificate of the truststore is trusted, not only self-signed authorities
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    mode = own.get("ssl.client.auth", "none")
    if mode not in _CLIENT_AUTH:
        raise ConfigError(f"ssl.client.auth `{mode}`: expected {', '.join(_CLIENT_AUTH)}")
    try:
        if not any(key.startswith("ssl.keystore.") for key in own):
            selfmade.into(context, own.get("shim.tls.directory"), host)
        else:
            _load_identity(context, own)
            _load_trust(context, own)
    except (OSError, ValueError) as error:
        raise ConfigError(f"listener {listener}: cannot set up TLS: {_why(error)}") from error
    context.verify_mode = _CLIENT_AUTH[mode]
    return context


def _why(error: OSError | ValueError) -> str:
    if isinstance(error, ssl.SSLError) or not isinstance(error, OSError):
        return str(error)
    place = "" if error.filename is None else f"`{error.filename}`: "
    return f"{place}{error.strerror or error}"


def _of_listener(settings: Mapping[str, str], listener: str) -> dict[str, str]:
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


def _load_identity(context: ssl.SSLContext, own: Mapping[str, str]) -> None:
    chain = own.get("ssl.keystore.certificate.chain")
    password = own.get("ssl.key.password") or own.get("ssl.keystore.password")
    if chain is not None:
        _load_pem(context, chain + "\n" + own.get("ssl.keystore.key", ""), password)
        return
    location = own.get("ssl.keystore.location", "")
    if not location:
        raise ConfigError("ssl.keystore.location is missing: name a PEM file or a PKCS12 store")
    if own.get("ssl.keystore.type", "JKS").upper() == "PEM" or location.endswith(".pem"):
        _load_chain(context, location, password, f"ssl.keystore.location `{location}`")
    else:
        _load_pem(context, selfmade.pem_of_pkcs12(Path(location), password), None)


def _load_trust(context: ssl.SSLContext, own: Mapping[str, str]) -> None:
    text = own.get("ssl.truststore.certificates")
    if text is not None:
        context.load_verify_locations(cadata=text)
        return
    location = own.get("ssl.truststore.location")
    if location is None:
        return
    if own.get("ssl.truststore.type", "JKS").upper() == "PEM" or location.endswith(".pem"):
        context.load_verify_locations(cadata=Path(location).read_text(encoding="ascii"))
    else:
        password = own.get("ssl.truststore.password")
        context.load_verify_locations(cadata=selfmade.pem_of_pkcs12(Path(location), password))


def _load_pem(context: ssl.SSLContext, pem: str, password: str | None) -> None:
    """Load a PEM text from a temporary file, since the standard library reads only files."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "identity.pem"
        path.touch(mode=0o600)
        path.write_text(pem)
        _load_chain(context, path, password, "the key store")


def _load_chain(
    context: ssl.SSLContext, path: str | Path, password: str | None, store: str
) -> None:
    try:
        # without a password the library would ask for one at the terminal
        context.load_cert_chain(path, password=password or "")
    except ssl.SSLError as error:
        raise ConfigError(
            f"{store} holds no PEM key and certificate that go together, or the password"
            f" is not the one of the key ({error.reason or 'not PEM'})"
        ) from error
    except OSError as error:
        raise ConfigError(f"{store}: {error.strerror or error}") from error
