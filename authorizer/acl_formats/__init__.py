"""ACLs as text, in every form that people keep them in: one module for each form.

A module of a form has `read(text)`, which gives ACLs with their lines or raises AclTextError, and
`write(acls)`, which gives text. Whatever a form cannot say raises AclTextError too: `write` reads
back what it wrote, so that nothing is lost on the way out.
"""

import re
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import cast

from kafka_shim.authorizer.acl_formats.fields import PlacedAcl
from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import Acl

FORMATS = {
    "yaml": "rules in YAML, as the state file has them",
    "json": "objects with the fields of an ACL",
    "list": "what kafka-acls --list prints",
    "commands": "kafka-acls command lines that add them",
    "csv": "the table of kafka-security-manager",
    "strimzi": "KafkaUser resources of Strimzi",
    "jikkou": "KafkaPrincipalAuthorization resources of jikkou",
    "terraform": "kafka_acl resources of the provider Mongey/kafka",
    "terraform-confluent": "confluent_kafka_acl resources of the provider confluentinc/confluent",
    "zookeeper": "the nodes that brokers kept ACLs in before KRaft (KIP-290)",
    "audit-log": "the rules that lines of Kafka's authorizer log name",
}
"""The forms by name, with what each is."""

_MODULES = {
    "yaml": "rules",
    "json": "objects",
    "list": "kafka_list",
    "commands": "kafka_commands",
    "csv": "csv_table",
    "terraform": "terraform_kafka",
    "terraform-confluent": "terraform_confluent",
    "audit-log": "audit_log",
}
"""Where a form's module is not called as the form."""

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
"""By what a text of a form is known; all others are YAML, of which JSON is a part."""


_YAML = re.compile(r"^(?:---|- |[\[{]|\w+:)", re.MULTILINE)


def read(text: str, form: str | None = None) -> list[Acl]:
    """The ACLs of a text, each once, in their order; without a form, it is recognised."""
    return list(dict.fromkeys(acl for acl, _ in read_placed(text, form)))


def read_placed(text: str, form: str | None = None) -> list[PlacedAcl]:
    """The ACLs of a text with their lines, as often as they are there."""
    known = form or recognise(text)
    module = import_module(f"{__name__}.{_module(known)}")
    reader = cast("Callable[[str], list[PlacedAcl]]", module.read)
    try:
        return reader(text)
    except AclTextError as error:
        if known != "yaml" or _YAML.search(text) or not error.said.startswith("not YAML:"):
            raise
        said = f"not a known form of ACLs ({', '.join(FORMATS)}), and {error.said}"
        raise AclTextError(said, error.line) from error


def passed_over(text: str, form: str) -> list[str]:
    """Resources of other kinds, without ACLs, in a text of resources."""
    module = import_module(f"{__name__}.bystander_files")
    return cast("list[str]", module.others_in(text, form))


def write(acls: Iterable[Acl], form: str) -> str:
    """ACLs as a text that `read` takes; AclTextError names the first ACL that it could not say."""
    module = import_module(f"{__name__}.{_module(form)}")
    writer = cast("Callable[[list[Acl]], str]", module.write)
    wanted = list(dict.fromkeys(acls))
    text = writer(wanted)
    found = set(read(text, form)) if wanted else set()
    for acl in wanted:
        if acl not in found:
            raise AclTextError(f"the form `{form}` cannot say {acl}")
    return text


def recognise(text: str, name: str = "") -> str:
    """The form that a text looks like; by the name of its file if nothing is known by sight."""
    for form, sign in _SIGNS.items():
        if re.search(sign, text, re.MULTILINE):
            return form
    return "terraform" if name.endswith(".tf") else "yaml"


def _module(form: str) -> str:
    if form not in FORMATS:
        raise AclTextError(f"there is no form `{form}`; forms are {', '.join(FORMATS)}")
    return _MODULES.get(form, form)
