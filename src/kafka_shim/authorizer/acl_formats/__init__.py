"""ACLs as text: one module for each format.

The module of a format has `read(text)`, which returns ACLs with their lines or raises AclTextError,
and `write(acls)`, which returns text. `write` reads its own output back, and raises AclTextError
for ACLs that the format cannot express.
"""

import re
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import cast

from kafka_shim.authorizer.acl_formats.fields import PlacedAcl
from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import Acl

FORMATS = {
    "yaml": "ACLs in YAML, as in a state file",
    "json": "a list of objects, one for each ACL",
    "list": "the output of kafka-acls --list",
    "commands": "kafka-acls commands that add the ACLs",
    "csv": "the table of kafka-security-manager",
    "strimzi": "KafkaUser resources of Strimzi",
    "jikkou": "KafkaPrincipalAuthorization resources of jikkou",
    "terraform": "kafka_acl resources of the provider Mongey/kafka",
    "terraform-confluent": "confluent_kafka_acl resources of the provider confluentinc/confluent",
    "zookeeper": "ZooKeeper nodes, in which brokers before KRaft kept ACLs",
    "audit-log": "the ACLs that lines of Kafka's authorizer log name",
}
"""The formats: name -> description."""

_MODULES = {
    "yaml": "yaml_rules",
    "json": "json_objects",
    "list": "kafka_list",
    "commands": "kafka_commands",
    "csv": "csv_table",
    "terraform": "terraform_kafka",
    "terraform-confluent": "terraform_confluent",
    "audit-log": "audit_log",
}
"""Modules of formats with another name than the format."""

_SIGNS = {
    "list": r"^\s*(?:(?:Current|Adding) ACLs for resource|ACLs for principal) `",
    "csv": r"\A\ufeff?\"?KafkaPrincipal\b",
    "commands": r"^\s*(?:\S*/)?kafka-acls(?:\.sh|\.bat)?\s",
    "strimzi": r"\bkind[\"']?:\s*[\"']?KafkaUser\b",
    "jikkou": r"\bkind[\"']?:\s*[\"']?KafkaPrincipal(?:Authorization|Role)\b",
    "terraform": r"^\s*resource\s+\"kafka_acl\"|\"kafka_acl\"\s*:|\"type\":\s*\"kafka_acl\"",
    "terraform-confluent": r"\"confluent_kafka_acl\"",
    "zookeeper": r"/kafka-acl(?:-extended)?/",
    "audit-log": r"\bStandardAcl[(\[]|\bPrincipal = \S+.* is (?:Allowed|Denied) [Oo]peration = ",
}
"""Patterns that identify a format; all other texts are YAML, which includes JSON."""


_YAML = re.compile(r"^(?:---|- |[\[{]|\w+:)", re.MULTILINE)


def read(text: str, form: str | None = None) -> list[Acl]:
    """Return the distinct ACLs of a text, in their order; None detects the format."""
    return list(dict.fromkeys(acl for acl, _ in read_placed(text, form)))


def read_placed(text: str, form: str | None = None) -> list[PlacedAcl]:
    """Return the ACLs of a text with their lines, including duplicates."""
    known = form or recognise(text)
    module = import_module(f"{__name__}.{_module(known)}")
    reader = cast("Callable[[str], list[PlacedAcl]]", module.read)
    try:
        return reader(text)
    except AclTextError as error:
        if known != "yaml" or _YAML.search(text) or not error.said.startswith("not YAML:"):
            raise
        said = f"not in a known format of ACLs ({', '.join(FORMATS)}); {error.said}"
        raise AclTextError(said, error.line) from error


def passed_over(text: str, form: str) -> list[str]:
    """Return the names of resources without ACLs in a text of resources."""
    module = import_module(f"{__name__}.bystander_files")
    return cast("list[str]", module.others_in(text, form))


def write(acls: Iterable[Acl], form: str) -> str:
    """Return ACLs as text for `read`; AclTextError names the first that cannot be expressed."""
    module = import_module(f"{__name__}.{_module(form)}")
    writer = cast("Callable[[list[Acl]], str]", module.write)
    wanted = list(dict.fromkeys(acls))
    text = writer(wanted)
    found = set(read(text, form)) if wanted else set()
    for acl in wanted:
        if acl not in found:
            shown = import_module(f"{__name__}.kafka_list").acl_text(acl)
            raise AclTextError(f"the format `{form}` cannot express {shown}")
    return text


def recognise(text: str, name: str = "") -> str:
    """Return the format of a text, detected from its content, else from the name of its file."""
    for form, sign in _SIGNS.items():
        if re.search(sign, text, re.MULTILINE):
            return form
    return "terraform" if name.endswith(".tf") else "yaml"


def _module(form: str) -> str:
    if form not in FORMATS:
        raise AclTextError(f"unknown format `{form}`; expected one of {', '.join(FORMATS)}")
    return _MODULES.get(form, form)
