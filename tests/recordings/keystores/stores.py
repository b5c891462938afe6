"""Makes the key stores and trust stores of the scenarios, as PKCS12 and PEM."""

import datetime as dt
import ipaddress
from pathlib import Path
from typing import Final, NamedTuple

from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)
from cryptography.x509 import (
    BasicConstraints,
    Certificate,
    CertificateBuilder,
    DNSName,
    GeneralName,
    IPAddress,
    Name,
    NameAttribute,
    SubjectAlternativeName,
    random_serial_number,
)
from cryptography.x509.oid import NameOID

PASSWORD: Final = "changeit"
OTHER_PASSWORD: Final = "changed"
HOME, AWAY = "home", "away"
_DAY: Final = dt.timedelta(days=1)


class Identity(NamedTuple):
    """What the certificate of a key store says, and which authority has issued it."""

    common_name: str = "broker"
    names: tuple[str, ...] = ("localhost", "127.0.0.1")
    authority: str = HOME
    password: str = PASSWORD


IDENTITIES: Final = {
    "one": Identity(),
    "again": Identity(),
    "away": Identity(authority=AWAY),
    "renamed": Identity("other"),
    "moved": Identity(names=("elsewhere", "127.0.0.1")),
    "wider": Identity(names=("localhost", "127.0.0.1", "elsewhere")),
    "nameless": Identity(names=()),
    "secret": Identity(password=OTHER_PASSWORD),
    "client": Identity("client"),
    "stranger": Identity("client", authority=AWAY),
}


class _Signed(NamedTuple):
    key: EllipticCurvePrivateKey
    certificate: Certificate


def write_stores(folder: Path) -> dict[bytes, str]:
    """Write all stores to a folder; return the identities by their certificates.

    `one.p12` and `one.pem` are an identity, `trust-home.p12` and `trust-home.pem` trust an
    authority, and `broken` is neither.
    """
    authorities = {name: _issue(Identity(name, (), name), None) for name in (HOME, AWAY)}
    for name, trusted in {HOME: [HOME], AWAY: [AWAY], "both": [HOME, AWAY]}.items():
        certificates = [authorities[authority].certificate for authority in trusted]
        entries = [
            pkcs12.PKCS12Certificate(each, each.subject.rfc4514_string().encode())
            for each in certificates
        ]
        store = pkcs12.serialize_java_truststore(entries, _protection(PASSWORD))
        (folder / f"trust-{name}.p12").write_bytes(store)
        pem = b"".join(each.public_bytes(Encoding.PEM) for each in certificates)
        (folder / f"trust-{name}.pem").write_bytes(pem)
    (folder / "broken").write_bytes(b"neither PKCS12 nor PEM")
    return {
        _write_identity(folder, name, identity, authorities[identity.authority]): name
        for name, identity in IDENTITIES.items()
    }


def _write_identity(folder: Path, name: str, identity: Identity, authority: _Signed) -> bytes:
    key, certificate = _issue(identity, authority)
    protection = _protection(identity.password)
    store = pkcs12.serialize_key_and_certificates(b"it", key, certificate, [], protection)
    (folder / f"{name}.p12").write_bytes(store)
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    chain = certificate.public_bytes(Encoding.PEM)
    (folder / f"{name}.pem").write_bytes(secret + chain)
    (folder / f"{name}.key").write_bytes(secret)
    (folder / f"{name}.crt").write_bytes(chain)
    return certificate.public_bytes(Encoding.DER)


def _protection(password: str) -> BestAvailableEncryption:
    return BestAvailableEncryption(password.encode())


def _issue(identity: Identity, authority: _Signed | None) -> _Signed:
    """Return a new key and its certificate; without an authority it signs itself."""
    key = generate_private_key(SECP256R1())
    subject = Name([NameAttribute(NameOID.COMMON_NAME, identity.common_name)])
    now = dt.datetime.now(dt.UTC)
    builder = (
        CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject if authority is None else authority.certificate.subject)
        .public_key(key.public_key())
        .serial_number(random_serial_number())
        .not_valid_before(now - _DAY)
        .not_valid_after(now + _DAY)
        .add_extension(BasicConstraints(ca=authority is None, path_length=None), critical=True)
    )
    if identity.names:
        names = SubjectAlternativeName([_general_name(name) for name in identity.names])
        builder = builder.add_extension(names, critical=False)
    signer = key if authority is None else authority.key
    return _Signed(key, builder.sign(signer, SHA256()))


def _general_name(name: str) -> GeneralName:
    if name[0].isdigit():
        return IPAddress(ipaddress.ip_address(name))
    return DNSName(name)
