"""Distinguished names of certificates, and the rules that map them to principals."""

import contextlib
import datetime as dt

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding

from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.config import Config, parse_listener
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.tls.distinguished_name import rfc2253_text, subject_of_certificate
from kafka_shim.shim.tls.principal_mapping import (
    MappingRule,
    map_name_by_first_rule,
    parse_mapping_rules,
)
from tests.shim.tls import rules, subjects

SERVICE = "CN=serviceuser,OU=ServiceUsers,O=Unknown,L=Unknown,ST=Unknown,C=Unknown"
ADMIN = "CN=adminUser,OU=Admin,O=Unknown,L=Unknown,ST=Unknown,C=Unknown"


@pytest.mark.parametrize(
    ("text", "name", "principal"),
    [
        ("DEFAULT", SERVICE, SERVICE),
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
    text: str, name: str, principal: str
) -> None:
    assert map_name_by_first_rule(parse_mapping_rules(text), name) == principal


def test_a_name_that_no_rule_matches_is_refused() -> None:
    with pytest.raises(LookupError, match="no principal mapping rule"):
        map_name_by_first_rule(parse_mapping_rules("RULE:^CN=x$/y/"), ADMIN)


@pytest.mark.parametrize(
    "text", ["default", "RULE:^CN=(.*)$", "RULE:a/b/X", "RULE:(/a/", "DEFAULT x"]
)
def test_invalid_rules_are_rejected(text: str) -> None:
    with pytest.raises(ValueError, match=r"ssl\.principal\.mapping\.rules"):
        parse_mapping_rules(text)


def texts_by_kafka_and_here(row: rules.Recorded) -> tuple[list[str | None], list[str | None]]:
    assert row.mapped is not None
    parsed = parse_mapping_rules(row.rules)
    return row.mapped, [mapped_or_none(parsed, name) for name in rules.NAMES]


def mapped_or_none(parsed: tuple[MappingRule, ...], name: str) -> str | None:
    try:
        return map_name_by_first_rule(parsed, name)
    except LookupError:
        return None


@pytest.mark.parametrize("row", [row for row in rules.recorded() if row.mapped is not None])
def test_names_are_mapped_as_by_kafka(row: rules.Recorded) -> None:
    by_kafka, here = texts_by_kafka_and_here(row)
    assert here == by_kafka


@pytest.mark.parametrize("row", [row for row in rules.recorded() if row.mapped is None])
def test_rules_that_kafka_rejects_are_rejected(row: rules.Recorded) -> None:
    with pytest.raises(ValueError, match=r"ssl\.principal\.mapping\.rules"):
        parse_mapping_rules(row.rules)


@pytest.mark.parametrize(
    "rule",
    [
        "RULE:" + "(" * 20_000 + "a" + ")" * 20_000 + "/b/",
        "RULE:a{99999999999999999999}/b/",
        "RULE:[a-z&&[^b]]/b/",
        "RULE:(?m)^a$/b/",
        r"RULE:\p{IsGreek}/b/",
    ],
)
def test_patterns_that_cannot_be_translated_are_an_error_of_one_line(rule: str) -> None:
    with pytest.raises(ValueError, match=r"ssl\.principal\.mapping\.rules: in `RULE:") as raised:
        parse_mapping_rules(rule)
    assert len(str(raised.value)) < 200


def test_subjects_are_written_as_by_java() -> None:
    rows = subjects.recorded()
    assert len(rows) >= 4_000
    different = [row for row in rows if subject_or_none(row.certificate) != row.text]
    assert different == []


def subject_or_none(certificate: bytes) -> str | None:
    try:
        return subject_of_certificate(certificate)
    except ValueError:
        return None


def test_a_damaged_certificate_is_a_value_error() -> None:
    whole = subjects.recorded()[-1].certificate
    for size in range(len(whole)):
        with contextlib.suppress(ValueError):
            subject_of_certificate(whole[:size])
    for at in range(len(whole)):
        with contextlib.suppress(ValueError):
            subject_of_certificate(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])


def test_the_subject_of_a_certificate_that_a_library_made_is_the_same() -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    now = dt.datetime.now(dt.UTC)
    name = x509.Name.from_rfc4514_string(r"CN=a\,b\+c,OU=x\=y,O=example,C=SE")
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
    der = certificate.public_bytes(Encoding.DER)
    assert subject_of_certificate(der) == r"CN=a\,b\+c,OU=x\=y,O=example,C=SE"


@pytest.mark.timeout(10, func_only=True)
@pytest.mark.parametrize("rule", ["RULE:^CN=(a+)+$/$1/", r"RULE:(.*)*,OU=(\\w|\\w\\w)+\\.$/$2/L"])
def test_a_rule_that_is_exponential_elsewhere_is_fast(rule: str) -> None:
    name = "CN=" + "a" * 5000 + "!"
    assert map_name_by_first_rule(parse_mapping_rules(f"{rule},DEFAULT"), name) == name


def name_of(*attributes: tuple[str, str]) -> bytes:
    pairs = [
        subjects.object_id(kind) + subjects.element(subjects.UTF8, text.encode())
        for kind, text in attributes
    ]
    return b"".join(subjects.element(0x31, subjects.element(0x30, pair)) for pair in pairs)


def test_no_attribute_can_pretend_to_be_another() -> None:
    rule = parse_mapping_rules("RULE:^.*CN=([^,]+).*$/$1/")
    name = rfc2253_text(name_of(("2.5.4.3", "mallory"), ("2.5.4.11", "CN=admin")))
    assert map_name_by_first_rule(rule, name) == "mallory"


@pytest.mark.parametrize(
    "value", ["a,OU=admin", 'a"b', "a\nCN=admin", "a\\", "a=b+c", "$1", "\\g<0>", " #a ", "ä\u2028"]
)
def test_special_characters_in_a_name_are_escaped_and_never_a_template(value: str) -> None:
    name = rfc2253_text(name_of(("2.5.4.3", value), ("2.5.4.11", "users")))
    parsed = parse_mapping_rules(
        r"RULE:^OU=users,CN=(\w+)$/$1/,RULE:^OU=users,CN=((?s:.*))$/other:$1/"
    )
    mapped = map_name_by_first_rule(parsed, name)
    assert mapped.startswith("other:")
    assert mapped == "other:" + name.removeprefix("OU=users,CN=")
    assert ",OU=admin" not in mapped.replace("\\,", "")


def test_a_listener_can_have_rules_of_its_own() -> None:
    """Kafka's `valuesWithPrefixOverride`: the setting of a listener takes precedence."""
    texts = ("SSL://127.0.0.1:0", "OWN://127.0.0.1:0", "PLAINTEXT://127.0.0.1:0")
    config = Config(
        listeners=tuple(parse_listener(text, {"OWN": "SSL"}) for text in texts),
        properties={"listener.name.own.ssl.principal.mapping.rules": "RULE:^CN=([^,]+).*$/$1/"},
    )
    rules = Cluster(config, ManualClock()).principal_rules_by_listener
    assert map_name_by_first_rule(rules["OWN"], "CN=a,O=b") == "a"
    assert map_name_by_first_rule(rules["SSL"], "CN=a,O=b") == "CN=a,O=b"
    assert rules["PLAINTEXT"] == ()
