"""Test certificates made on the spot, and PKCS12 stores as PEM (trustme, cryptography)."""

import ssl
from pathlib import Path
from typing import TYPE_CHECKING

from shim.errors import ConfigError

if TYPE_CHECKING:
    import trustme

MISSING = "TLS with self-made certificates or PKCS12 stores needs: pip install 'kafka-shim[tls]'"


def into(context: ssl.SSLContext, directory: str | None, host: str) -> None:
    """Give a context a certificate of a new authority that it also trusts.

    With a directory the authority's certificate is left there as `ca.pem`, and a client identity
    as `client.pem` (CN=client); without one nobody could verify us, so that is refused.
    """
    if directory is None:
        raise ConfigError(
            "a TLS listener needs a certificate: set ssl.keystore.location, or --tls-dir DIR for"
            " self-made ones"
        )
    authority = _authority()
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    names = dict.fromkeys([host, "localhost", "127.0.0.1", "::1"])
    authority.issue_cert(*names).configure_cert(context)
    authority.configure_trust(context)
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    identity = folder / "client.pem"
    identity.touch(mode=0o600)
    identity.write_bytes(identity_pem(authority, "client"))


def identity_pem(authority: "trustme.CA", common_name: str, *names: str) -> bytes:
    """Key and certificates of a new identity, as a client of any language reads them: Java wants
    the key in PKCS8, and cannot read a certificate that is for no name at all.
    """
    from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415 - comes with trustme
        Encoding,
        NoEncryption,
        PrivateFormat,
        load_pem_private_key,
    )

    made = authority.issue_cert(*(names or (common_name,)), common_name=common_name)
    key = load_pem_private_key(made.private_key_pem.bytes(), None)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return pem + b"".join(one.bytes() for one in made.cert_chain_pems)


def _authority() -> "trustme.CA":
    try:
        import trustme  # noqa: PLC0415 - an extra, and only TLS listeners need it
    except ImportError as error:
        raise ConfigError(MISSING) from error
    return trustme.CA()


def pem_of_pkcs12(path: Path, password: str | None) -> str:
    """Key, certificate and further certificates of a store, one after the other."""
    try:
        from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415 - as above
            Encoding,
            NoEncryption,
            PrivateFormat,
            pkcs12,
        )
    except ImportError as error:
        raise ConfigError(MISSING) from error
    secret = None if password is None else password.encode()
    store = pkcs12.load_pkcs12(path.read_bytes(), secret)
    found = []
    if store.key is not None:
        found.append(store.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    certificates = [store.cert] if store.cert is not None else []
    certificates += store.additional_certs
    found += [entry.certificate.public_bytes(Encoding.PEM) for entry in certificates]
    return b"".join(found).decode()
