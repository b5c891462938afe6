"""Generated test certificates, and PKCS12 stores as PEM (trustme, cryptography)."""

import contextlib
import os
import ssl
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_shim.shim.errors import ConfigError
from kafka_shim.text.extras import requires
from kafka_shim.text.logs import Log

if TYPE_CHECKING:
    import trustme

log = Log("shim.tls")

_JKS_MAGIC = b"\xfe\xed\xfe\xed"


def load_generated_certificates(
    context: ssl.SSLContext, directory: str | None, hosts: Sequence[str]
) -> None:
    """Give a context a certificate of the directory's authority, which it also trusts.

    The certificate is for these hosts and the local ones; a host with `_` cannot be in it.

    Leave the authority's certificate there as `ca.pem`, and a client identity as `client.pem`
    (CN=client). Raise ConfigError without a directory, as no client
    could verify the certificate.
    """
    if directory is None:
        raise ConfigError(
            "a TLS listener needs a certificate: set ssl.keystore.location, or --tls-dir DIR for"
            " self-made ones"
        )
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    authority = _get_or_create_authority(folder)
    impossible = [host for host in hosts if "_" in host]
    if impossible:
        log.warning("host is not in the generated certificate", hosts=impossible)
    names = [host for host in (*hosts, "localhost", "127.0.0.1", "::1") if host not in impossible]
    authority.issue_cert(*dict.fromkeys(names)).configure_cert(context)
    authority.configure_trust(context)
    _replace_atomically(folder / "ca.pem", authority.cert_pem.bytes(), mode=0o644)
    _replace_atomically(folder / "client.pem", issue_identity_pem(authority, "client"))


def write_certificate_for_host(folder: Path, host: str) -> Path:
    """Write a key and a certificate for one host, issued by the folder's authority, as PEM.

    Leave the authority's certificate there as `ca.pem`. Raise ConfigError without the extra `tls`.
    """
    authority = _get_or_create_authority(folder)
    _replace_atomically(folder / "ca.pem", authority.cert_pem.bytes(), mode=0o644)
    path = folder / f"{host}.pem"
    _replace_atomically(path, issue_identity_pem(authority, host))
    return path


def _get_or_create_authority(folder: Path) -> "trustme.CA":
    """Return the authority of a directory: all listeners and brokers that use it share one.

    Its key stays in `authority.pem`, so that clients which trust `ca.pem` go on trusting it.
    """
    try:
        import trustme  # noqa: PLC0415 - an extra, and only TLS listeners need it
    except ImportError as error:
        raise ConfigError(requires("--tls-dir", "tls")) from error
    path = folder / "authority.pem"
    if not path.exists():
        authority = trustme.CA()
        temporary = _write_private_temporary_file(
            path, authority.private_key_pem.bytes() + authority.cert_pem.bytes()
        )
        with contextlib.suppress(FileExistsError):  # another broker was faster
            os.link(temporary, path)
        temporary.unlink()
    pem = path.read_bytes()
    return trustme.CA.from_pem(cert_bytes=pem, private_key_bytes=pem)


def _replace_atomically(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Replace a file atomically: clients of another broker may be reading the one that exists."""
    temporary = _write_private_temporary_file(path, content)
    temporary.chmod(mode)
    temporary.replace(path)


def _write_private_temporary_file(path: Path, content: bytes) -> Path:
    """Write a new file next to `path` that only its owner can read; return it."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    return Path(name)


def issue_identity_pem(authority: "trustme.CA", common_name: str, *names: str) -> bytes:
    """Return key and certificates of a new identity for clients of any language: Java needs
    a PKCS8 key, and a certificate with a name.
    """
    from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415 - comes with trustme
        Encoding,
        NoEncryption,
        PrivateFormat,
        load_pem_private_key,
    )

    leaf = authority.issue_cert(*(names or (common_name,)), common_name=common_name)
    key = load_pem_private_key(leaf.private_key_pem.bytes(), None)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return pem + b"".join(certificate.bytes() for certificate in leaf.cert_chain_pems)


def pkcs12_to_pem(path: Path, password: str | None) -> str:
    """Return key, certificate and further certificates of a store, one after the other.

    Raise ValueError if it is not a PKCS12 store, or the password is wrong.
    """
    try:
        from cryptography.hazmat.primitives.serialization import (  # noqa: PLC0415 - as above
            Encoding,
            NoEncryption,
            PrivateFormat,
            pkcs12,
        )
    except ImportError as error:
        raise ConfigError(requires(f"the PKCS12 store `{path}`", "tls")) from error
    secret = None if password is None else password.encode()
    data = path.read_bytes()
    if data.startswith(_JKS_MAGIC):
        raise ValueError(
            "a JKS store, which is not supported; convert it with"
            " `keytool -importkeystore ... -deststoretype PKCS12`"
        )
    if data.startswith(b"-----BEGIN "):
        raise ValueError("a PEM file; set the type to PEM, as in ssl.keystore.type=PEM")
    store = pkcs12.load_pkcs12(data, secret)
    blocks = []
    if store.key is not None:
        blocks.append(store.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    certificates = [store.cert] if store.cert is not None else []
    certificates += store.additional_certs
    blocks += [entry.certificate.public_bytes(Encoding.PEM) for entry in certificates]
    return b"".join(blocks).decode()
