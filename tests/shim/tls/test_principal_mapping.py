"""Distinguished names of certificates, and the rules that map them to principals."""

import datetime as dt
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from kafka_shim.shim.tls.distinguished_name import rfc2253
from kafka_shim.shim.tls.principal_mapping import map_name, parse_rules

SERVICE = "CN=serviceuser,OU=ServiceUsers,O=Unknown,L=Unknown,ST=Unknown,C=Unknown"
ADMIN = "CN=adminUser,OU=Admin,O=Unknown,L=Unknown,ST=Unknown,C=Unknown"


@pytest.mark.parametrize(
    ("rules", "name", "principal"),
    [
        ("DEFAULT", SERVICE, SERVICE),
        ("", SERVICE, SERVICE),
        ("RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/,DEFAULT", SERVICE, "serviceuser"),
        ("RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/,DEFAULT", ADMIN, ADMIN),
        ("RULE:^CN=(.*?), *OU=(.*?), *O=(.*?),.*$/$1@$2/", ADMIN, "adminUser@Admin"),
        ("RULE:^CN=(.*?),.*$/$1/L", ADMIN, "adminuser"),
        ("RULE:^cn=(.*?),.*$/$1/ , RULE:^CN=(.*?),.*$/$1/U", ADMIN, "ADMINUSER"),
        ("RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/L,DEFAULT", ADMIN, "adminuser"),
        (r"RULE:^CN=(.*?)\/x,.*$/$1/,DEFAULT", "CN=a/x,O=b", "a"),
        ("RULE:^CN=(.*?),OU=(.*?),.*$/fixed/", ADMIN, "fixed"),
    ],
)
def test_the_first_rule_that_matches_the_whole_name_wins(
    rules: str, name: str, principal: str
) -> None:
    assert map_name(parse_rules(rules), name) == principal


def test_a_name_that_no_rule_matches_is_refused() -> None:
    with pytest.raises(LookupError, match="no principal mapping rule"):
        map_name(parse_rules("RULE:^CN=x$/y/"), ADMIN)


@pytest.mark.parametrize(
    "rules", ["default", "RULE:^CN=(.*)$", "RULE:a/b/X", "RULE:(/a/", "RULE:a/$1/", "DEFAULT x"]
)
def test_invalid_rules_are_rejected(rules: str) -> None:
    with pytest.raises(ValueError, match="principal mapping rules"):
        parse_rules(rules)


def subject_of(name: x509.Name, folder: Path) -> object:
    """Return the subject as Python's ssl module returns it after a handshake."""
    key = ec.generate_private_key(ec.SECP256R1())
    now = dt.datetime.now(dt.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now)
        .not_valid_after(now + dt.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    path = folder / "one.pem"
    path.write_bytes(certificate.public_bytes(Encoding.PEM))
    return ssl._ssl._test_decode_cert(str(path))["subject"]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "value", ["alice", "a, b", 'quote"d', "#hash", " led", "trail ", "a+b=c;d", "a\\b", "<a>"]
)
def test_names_are_written_as_in_rfc_2253(value: str, tmp_path: Path) -> None:
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.COUNTRY_NAME, "SE"),
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "example"),
            x509.NameAttribute(NameOID.COMMON_NAME, value),
        ]
    )
    written = rfc2253(subject_of(name, tmp_path))  # type: ignore[arg-type]
    assert written == name.rfc4514_string()
    assert written.endswith(",O=example,C=SE")


def test_an_attribute_without_a_keyword_is_written_by_its_object_id(tmp_path: Path) -> None:
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.COMMON_NAME, "a"),
            x509.NameAttribute(NameOID.EMAIL_ADDRESS, "a@b"),
        ]
    )
    written = rfc2253(subject_of(name, tmp_path))  # type: ignore[arg-type]
    assert written == "1.2.840.113549.1.9.1=#1603614062,CN=a"


@pytest.mark.timeout(10, func_only=True)
@pytest.mark.parametrize("rule", ["RULE:^CN=(a+)+$/$1/", r"RULE:(.*)*,OU=(\\w|\\w\\w)+\\.$/$2/L"])
def test_a_rule_that_is_exponential_elsewhere_is_fast(rule: str) -> None:
    name = "CN=" + "a" * 5000 + "!"
    assert map_name(parse_rules(f"{rule},DEFAULT"), name) == name


@pytest.mark.parametrize(
    "value", ["a,OU=admin", 'a"b', "a\nCN=admin", "a\\", "a=b+c", "$1", "\\g<0>", " #a ", "ä\u2028"]
)
def test_special_characters_in_a_name_are_escaped_and_never_a_template(value: str) -> None:
    name = rfc2253(((("commonName", value),), (("organizationalUnitName", "users"),)))
    rules = parse_rules(r"RULE:^OU=users,CN=(\w+)$/$1/,RULE:^OU=users,CN=((?s:.*))$/other:$1/")
    mapped = map_name(rules, name)
    assert mapped.startswith("other:")
    assert mapped == "other:" + name.removeprefix("OU=users,CN=")
    assert ",OU=admin" not in mapped.replace("\\,", "")
