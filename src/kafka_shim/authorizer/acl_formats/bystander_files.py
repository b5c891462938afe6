"""Explain why a file in a folder of ACLs has none."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from kafka_shim.authorizer.acl_formats import jikkou
from kafka_shim.authorizer.acl_formats.bystanders import mentions_acls, sign_of_acls
from kafka_shim.authorizer.acl_formats.documents import load_all, resources
from kafka_shim.authorizer.acl_formats.hcl import check_bystander, is_acl_type, is_local, source_of
from kafka_shim.authorizer.acl_formats.hcl_blocks import blocks
from kafka_shim.authorizer.acl_names import AclTextError

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


def why_passed_over(text: str, name: str) -> str | None:
    """Return what the file is, in words; None if it may contain ACLs."""
    read = _BY_SUFFIX.get(PurePath(name).suffix)
    return None if read is None else read(text)


def local_modules(text: str) -> Iterator[tuple[str, int]]:
    """Yield sources and lines of Terraform modules that are folders beside the file."""
    try:
        found = list(blocks(text))
    except AclTextError:  # the file's own reader reports it
        return
    for block in found:
        if block.keyword == "module" and is_local(block):
            yield source_of(block), block.line


def _terraform(text: str) -> str | None:
    kinds: dict[str, None] = {}
    try:
        for block in blocks(text):
            check_bystander(block)
            kinds[(block.labels or ("",))[0] if block.keyword == "resource" else block.keyword] = (
                None
            )
    except AclTextError:
        return None
    return ", ".join(kinds) or "nothing in it"


def others_in(text: str, form: str) -> list[str]:
    """Return kinds and names of resources other than ACLs in a text."""
    if form in _OWN_KINDS:
        found = resources(text)
        return [
            f"{each.get('kind')} {(each.get('metadata') or {}).get('name', '')}".strip()
            for each in found
            if each.get("kind") not in _OWN_KINDS[form]
        ]
    if form.startswith("terraform") and not text.lstrip().startswith("{"):
        kinds = [block.labels[0] for block in blocks(text) if block.keyword == "resource"]
        return list(dict.fromkeys(kind for kind in kinds if not is_acl_type(kind)))
    return []


def _document(text: str) -> str | None:
    """Return what a YAML or JSON file is; None if it may contain ACLs."""
    if _SURELY.search(text) and not re.search(r"^[\"']?expect\b", text, re.MULTILINE):
        return None
    try:
        documents = [document for document in load_all(text) if document is not None]
    except AclTextError:  # the file's own reader reports it
        return None
    if not documents or not all(isinstance(document, Mapping) for document in documents):
        return None
    [first, *others] = documents
    if not others and "expect" in first and _EXPECTATIONS.issuperset(first):
        return "expectations"
    if not others and ("terraform_version" in first or "resource" in first):
        return _terraform_json(text, first)
    return _kinds(documents)


def _kinds(documents: Sequence[Mapping[str, Any]]) -> str | None:
    if any(sign_of_acls(document) is not None for document in documents):
        return None
    kinds = dict.fromkeys(str(document.get("kind", "")) for document in documents)
    return ", ".join(filter(None, kinds)) or "nothing about ACLs"


def _terraform_json(text: str, content: Mapping[str, Any]) -> str | None:
    """Return what a Terraform JSON file is: a state without ACLs, or other resources."""
    types = re.findall(r'"type":\s*"(\w+)"', text)
    types += list(content.get("resource") or ())
    if any(map(is_acl_type, types)) or mentions_acls(text) or "module" in content:
        return None
    return "no resources of ACLs"


def _without(sign: re.Pattern[str], said: str) -> Callable[[str], str | None]:
    def read(text: str) -> str | None:
        return None if sign.search(text) or mentions_acls(text) or not text.strip() else said

    return read


def _table(text: str) -> str | None:
    """Return what a table is, by the column names in its first line."""
    return _without(_TABLE, "other columns")(text.partition("\n")[0])


def _script(text: str) -> str | None:
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    return None if _SHELL.search("\n".join(lines)) else "no kafka-acls command"


_BY_SUFFIX: Mapping[str, Callable[[str], str | None]] = {
    ".tf": _terraform,
    ".yaml": _document,
    ".yml": _document,
    ".json": _document,
    ".csv": _table,
    ".sh": _script,
    ".txt": _without(_PROSE, "no list of ACLs"),
}
