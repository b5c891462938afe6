"""Explain why a file in a folder of ACLs has none."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.policy.formats import jikkou
from kafka_shim.policy.formats.documents import kubernetes_resources, load_documents
from kafka_shim.policy.formats.hcl import (
    block_count_or_none,
    is_acl_resource_type,
    is_local_module,
    module_source,
    parse_blocks,
    reject_acl_block,
)
from kafka_shim.policy.formats.signs_of_acls import (
    describe_sign_of_acls,
    is_marked_for_deletion,
    mentions_acls,
)

_EXPECTATIONS = {"expect", "acls", "release", "super-users", "super_users"}
_SURELY = re.compile(
    r"^(?:[\"']?acls[\"']?\s*:|-\s+\{?[\"']?principal\b)|\bkind[\"']?:\s*[\"']?Kafka(?:User|Principal)",
    re.MULTILINE,
)
"""ACLs, or next to nothing else: a large file of them is not parsed twice."""
_OWN_KINDS = {"strimzi": ("KafkaUser",), "jikkou": (jikkou.AUTHORIZATION, jikkou.ROLE)}
_SHELL = re.compile("acl", re.IGNORECASE)
_PROSE = re.compile(r"principal|permission|ACLs for|kafka-acls|\bUser:", re.IGNORECASE)
_TABLE = re.compile(r"principal|permission|operation|acl", re.IGNORECASE)


def describe_foreign_file(text: str, file_name: str) -> str | None:
    """Return what the file is, in words; None if it may contain ACLs."""
    suffix = ".tf.json" if file_name.endswith(".tf.json") else PurePath(file_name).suffix
    read = _BY_SUFFIX.get(suffix)
    return None if read is None else read(text)


class LocalModule(NamedTuple):
    """A Terraform module that is a folder beside the file; it may be made 0 times."""

    source: str
    line: int
    is_made: bool


def local_modules(text: str) -> Iterator[LocalModule]:
    """Yield the local modules of a Terraform file."""
    if text.lstrip().startswith("{"):
        return
    try:
        found = list(parse_blocks(text))
    except AclTextError:  # the file's own reader reports it
        return
    for block in found:
        if block.keyword == "module" and is_local_module(block):
            is_made = block_count_or_none(block) != 0
            yield LocalModule(module_source(block), block.line, is_made)


def reject_local_modules(text: str) -> None:
    """Raise AclTextError for Terraform modules in other folders, which may have ACLs."""
    errors = [
        AclTextError(
            f"the module {module.source} may have ACLs, and is not read with this file alone; give"
            " the folder that contains both, or the output of `terraform show -json`",
            module.line,
        )
        for module in local_modules(text)
        if module.is_made
    ]
    if errors:
        raise AclTextError(errors[0].message, errors[0].line, errors[1:])


def _describe_foreign_terraform(text: str) -> str | None:
    kinds: dict[str, None] = {}
    try:
        for block in parse_blocks(text):
            if block_count_or_none(block) != 0:
                reject_acl_block(block)
            kinds[(block.labels or ("",))[0] if block.keyword == "resource" else block.keyword] = (
                None
            )
    except AclTextError:
        return None
    return ", ".join(kinds) or "nothing in it"


def resources_without_acls(text: str, format_name: str) -> list[str]:
    """Return kinds and names of resources other than ACLs in a text."""
    if format_name in _OWN_KINDS:
        return [
            f"{each.get('kind')} {(each.get('metadata') or {}).get('name', '')}".strip() + reason
            for each in kubernetes_resources(text)
            if (reason := _reason_without_acls(each, _OWN_KINDS[format_name])) is not None
        ]
    if format_name.startswith("terraform") and not text.lstrip().startswith("{"):
        blocks = [block for block in parse_blocks(text) if block.labels]
        kinds = [block.labels[0] for block in blocks if block.keyword == "resource"]
        unmade = [
            f"{' '.join((block.keyword, *block.labels))} (made 0 times)"
            for block in blocks
            if block_count_or_none(block) == 0
        ]
        others = dict.fromkeys(kind for kind in kinds if not is_acl_resource_type(kind))
        return [*others, *unmade]
    return []


def _reason_without_acls(resource: Mapping[str, Any], kinds: Sequence[str]) -> str | None:
    """Return why a resource has no ACLs, empty if its kind says so; None if it may have some."""
    if resource.get("kind") not in kinds:
        return ""
    return " (marked for deletion)" if is_marked_for_deletion(resource) else None


def _describe_foreign_document(text: str) -> str | None:
    """Return what a YAML or JSON file is; None if it may contain ACLs."""
    if _SURELY.search(text) and not re.search(r"^[\"']?expect\b", text, re.MULTILINE):
        return None
    try:
        documents = [document for document in load_documents(text) if document is not None]
    except AclTextError:  # the file's own reader reports it
        return None
    if not documents or not all(isinstance(document, Mapping) for document in documents):
        return None
    [first, *others] = documents
    if not others and "expect" in first and _EXPECTATIONS.issuperset(first):
        return "expectations"
    if not others and "terraform_version" in first:
        return _describe_foreign_terraform_json(text)
    return _describe_foreign_kinds(documents)


def _describe_foreign_kinds(
    documents: Sequence[Mapping[str, Any]],
) -> str | None:
    if any(describe_sign_of_acls(document) is not None for document in documents):
        return None
    kinds = dict.fromkeys(str(document.get("kind", "")) for document in documents)
    return ", ".join(filter(None, kinds)) or "nothing about ACLs"


def _describe_foreign_terraform_json(text: str) -> str | None:
    """Return what a Terraform JSON file is: a state without ACLs, or other resources."""
    types = re.findall(r'"type":\s*"(\w+)"|"(\w+)"\s*:', text)
    has_acls = any(is_acl_resource_type(each) for pair in types for each in pair)
    is_unknown = has_acls or mentions_acls(text) or re.search(r'"module"\s*:\s*[\[{]', text)
    return None if is_unknown else "no resources of ACLs"


def _make_text_describer(sign: re.Pattern[str], description: str) -> Callable[[str], str | None]:
    def read(text: str) -> str | None:
        return None if sign.search(text) or mentions_acls(text) or not text.strip() else description

    return read


def _describe_foreign_table(text: str) -> str | None:
    """Return what a table is, by the column names in its first line."""
    return _make_text_describer(_TABLE, "other columns")(text.partition("\n")[0])


def _describe_foreign_script(text: str) -> str | None:
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    return None if _SHELL.search("\n".join(lines)) else "no kafka-acls command"


_BY_SUFFIX: Mapping[str, Callable[[str], str | None]] = {
    ".tf": _describe_foreign_terraform,
    ".tf.json": _describe_foreign_terraform_json,
    ".yaml": _describe_foreign_document,
    ".yml": _describe_foreign_document,
    ".json": _describe_foreign_document,
    ".csv": _describe_foreign_table,
    ".sh": _describe_foreign_script,
    ".txt": _make_text_describer(_PROSE, "no list of ACLs"),
}
