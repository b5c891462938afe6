"""ACLs as text: one module for each format.

The module of a format has `parse_acls(text)`, which returns ACLs with their lines or raises
AclTextError, and `format_acls(acls)`, which returns text. `format_acls` here also reads the text
back. Raise AclTextError for ACLs that the format cannot express.
"""

import re
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import cast

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import Acl
from kafka_shim.policy.formats.fields import AclWithLine

FORMATS = {
    "yaml": "ACLs in YAML, as in a state file",
    "json": "a list of objects, one for each ACL, also as rpk prints it",
    "list": "the output of kafka-acls --list",
    "commands": "kafka-acls commands that add the ACLs, wherever a script has them",
    "csv": "the table of kafka-security-manager, or of kafka-ui",
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
    "audit-log": "acls_in_audit_log",
}
"""Modules of formats with another name than the format."""

_FORMATS_OF_RESOURCES = ("strimzi", "jikkou", "terraform", "terraform-confluent")
"""Formats of tools that keep other resources, too."""

_SIGNS = {
    "list": r"^\s*(?:(?:Current|Adding) ACLs for resource|ACLs for principal) `",
    "csv": r"\A\ufeff?\"?(?i:KafkaPrincipal\b|Principal\"? *[,;\t|])",
    "commands": r"^\s*(?:\S*/)?kafka-acls(?:\.sh|\.bat)?\s",
    "jikkou": r"^[^#\n]*\bkind[\"']?:\s*[\"']?KafkaPrincipal(?:Authorization|Role)\b",
    "strimzi": r"^[^#\n]*\bkind[\"']?:\s*[\"']?KafkaUser\b",
    "terraform": r"^\s*resource\s+\"kafka_acl\"|\"kafka_acl\"\s*:|\"type\":\s*\"kafka_acl\"",
    "terraform-confluent": r"\"confluent_kafka_acl\"",
    "zookeeper": r"/kafka-acl(?:-extended)?/",
    "audit-log": r"\bStandardAcl[(\[]|\bPrincipal = \S+.* is (?:Allowed|Denied) [Oo]peration = ",
}
"""Patterns that identify a format; all other texts are YAML, which includes JSON."""


_COMMAND = re.compile(r"^(?!\s*#).*\bkafka-acls(?:\.sh|\.bat)?[\s\"',\]]", re.MULTILINE)
"""A command behind other tools, or in a text, such as that of a YAML file."""
_OWN_RULES = re.compile(
    r"^[\"']?acls[\"']?\s*:|^(?:- +|\s*\[?\s*)\{?\s*[\"']?principal[\"']?\s*:", re.MULTILINE
)
_HCL_BLOCK = re.compile(
    r"^(?:resource|module|data|provider|variable|output|locals|terraform)(?: +\"[^\"\n]*\")* *\{",
    re.MULTILINE,
)
_YAML = r"(?m)^(?:---|- |[\[{]|\w+:)"


def parse_distinct_acls(text: str, format_name: str | None = None) -> list[Acl]:
    """Return the distinct ACLs of a text, in their order; None detects the format."""
    return list(dict.fromkeys(acl for acl, _ in parse_acls_with_lines(text, format_name)))


def parse_acls_with_lines(
    text: str, format_name: str | None = None, *, reads_modules: bool = False
) -> list[AclWithLine]:
    """Return the ACLs of a text with their lines, including duplicates.

    A text of Terraform that uses a local module is rejected, unless the caller `reads_modules`.
    """
    text = text.removeprefix("\ufeff")
    known = format_name or detect_format(text)
    module = import_module(f"{__name__}.{_module_name_of_format(known)}")
    reader = cast("Callable[[str], list[AclWithLine]]", module.parse_acls)
    try:
        acls = reader(text)
    except AclTextError as error:
        if known != "yaml" or re.search(_YAML, text) or not error.message.startswith("not YAML:"):
            raise
        other = import_module(f"{__name__}.other_files").describe_foreign_text(text)
        known_formats = f"not in a known format of ACLs ({', '.join(FORMATS)})"
        said = f"{known_formats}; {f'it looks like {other}' if other else error.message}"
        raise AclTextError(said, error.line) from error
    if known.startswith("terraform") and not reads_modules:
        import_module(f"{__name__}.files_without_acls").reject_local_modules(text)
    return acls


def resources_without_acls(text: str, format_name: str) -> list[str]:
    """Return the names of resources without ACLs in a text of resources."""
    if format_name not in _FORMATS_OF_RESOURCES:
        return []
    module = import_module(f"{__name__}.files_without_acls")
    return cast("list[str]", module.resources_without_acls(text, format_name))


def format_acls_losslessly(acls: Iterable[Acl], format_name: str) -> str:
    """Return ACLs as text. Raise AclTextError if the format cannot express one of them."""
    module = import_module(f"{__name__}.{_module_name_of_format(format_name)}")
    writer = cast("Callable[[list[Acl]], str]", module.format_acls)
    wanted = list(dict.fromkeys(acls))
    text = writer(wanted)
    try:
        found = set(parse_distinct_acls(text, format_name)) if wanted else set()
    except AclTextError as error:  # such as of a NUL in a name, which no command line can have
        message = f"the format `{format_name}` cannot express all ACLs: {error.message}"
        raise AclTextError(message) from error
    for acl in wanted:
        if acl not in found:
            shown = import_module(f"{__name__}.yaml_rules").acl_line(acl)
            raise AclTextError(f"the format `{format_name}` cannot express {shown}")
    return text


def detect_format(text: str, file_name: str = "") -> str:
    """Return the format of a text, detected from its content, else from the name of its file."""
    text = text.removeprefix("\ufeff")
    for form, sign in _SIGNS.items():
        if re.search(sign, text, re.MULTILINE):
            return form
    is_script = file_name.endswith((".sh", ".bat")) or text.startswith("#!")
    if is_script or (_COMMAND.search(text) and not _OWN_RULES.search(text)):
        return "commands"
    is_terraform = file_name.endswith(".tf") or _HCL_BLOCK.search(text) is not None
    return "terraform" if is_terraform else "yaml"


def _module_name_of_format(format_name: str) -> str:
    if format_name not in FORMATS:
        raise AclTextError(f"unknown format `{format_name}`; expected one of {', '.join(FORMATS)}")
    return _MODULES.get(format_name, format_name)
