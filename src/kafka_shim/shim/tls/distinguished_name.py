"""A certificate's subject as Java prints it (RFC 2253): mapping rules are about this text."""

SHORT_NAMES = {
    "commonName": "CN",
    "localityName": "L",
    "stateOrProvinceName": "ST",
    "organizationName": "O",
    "organizationalUnitName": "OU",
    "countryName": "C",
    "streetAddress": "STREET",
    "domainComponent": "DC",
    "userId": "UID",
}
"""What RFC 2253 has a keyword for; all else Java writes as an object id and hex."""

OBJECT_IDS = {
    "emailAddress": ("1.2.840.113549.1.9.1", 0x16),
    "serialNumber": ("2.5.4.5", 0x13),
    "title": ("2.5.4.12", 0x0C),
    "givenName": ("2.5.4.42", 0x0C),
    "surname": ("2.5.4.4", 0x0C),
}
"""Object id, and the ASN.1 type its values usually have."""

Subject = tuple[tuple[tuple[str, str], ...], ...]
"""As `ssl.SSLSocket.getpeercert()["subject"]` has it."""


def rfc2253(subject: Subject) -> str:
    """Return a name such as `CN=alice,OU=tests,O=example,C=SE`, the most specific part first."""
    return ",".join("+".join(_part(*pair) for pair in part) for part in reversed(subject))


def _part(name: str, value: str) -> str:
    if name in SHORT_NAMES:
        return f"{SHORT_NAMES[name]}={_escaped(value)}"
    object_id, kind = OBJECT_IDS.get(name, (name, 0x0C))
    raw = value.encode()
    length = bytes([len(raw)]) if len(raw) < 128 else bytes([0x81, len(raw) & 0xFF])
    return f"{object_id}=#{(bytes([kind]) + length + raw).hex()}"


def _escaped(value: str) -> str:
    text = "".join(
        f"\\{character}" if character in ',+"\\<>;' else character for character in value
    )
    if text.startswith(("#", " ")):
        text = f"\\{text}"
    if text.endswith(" ") and not text.endswith("\\ "):
        text = f"{text[:-1]}\\ "
    return text
