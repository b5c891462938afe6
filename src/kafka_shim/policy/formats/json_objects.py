"""The format `json`: one object per ACL, with the field names of Redpanda's rpk.

[{"principal": "User:alice", "host": "*", "resource_type": "TOPIC", "resource_name": "orders",
"resource_pattern_type": "LITERAL", "operation": "READ", "permission": "ALLOW"}]
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import WILDCARD, Acl, acls_to_objects
from kafka_shim.policy.formats.documents import (
    check_keys_are_known,
    line_of_key,
    line_of_mapping,
    load_json_with_lines,
)
from kafka_shim.policy.formats.fields import (
    AclTexts,
    AclWithLine,
    ErrorCollector,
    parse_acl_texts,
)
from kafka_shim.text.data_text import json_text

KEYS = (
    "principal",
    "host",
    "resource_type",
    "resource_name",
    "resource_pattern_type",
    "operation",
    "permission",
)
_KEYS_IN_YAML = {key.replace("_", ""): key for key in KEYS if "_" in key}
"""rpk's names in YAML: they have no underscore."""
_RPK_KEYS = frozenset({"matches", "filters"})
_RPK_ERRORS = ("error", "message")
_DEFAULTS = {"host": WILDCARD, "resource_pattern_type": "LITERAL", "permission": "ALLOW"}


def parse_acls(text: str) -> list[AclWithLine]:
    """Read a list of objects, or an object with such a list under `acls`, or rpk's `matches`."""
    content = load_json_with_lines(text)
    if isinstance(content, dict):
        if is_output_of_rpk(content):
            content = matches_of_rpk(content)
        elif "acls" in content:
            content = content["acls"]
        else:
            raise AclTextError(
                "the key `acls` is missing; expected a list of ACLs, or a mapping with that key"
            )
    return _parse_objects_with_lines(content)


def is_output_of_rpk(content: Mapping[Any, Any]) -> bool:
    """Return whether `rpk security acl list --format json` or `yaml` printed this.

    Its `filters` are what it looked for. Without ACLs, `matches` is null.
    """
    return "matches" in content and _RPK_KEYS.issuperset(content)


def matches_of_rpk(content: Mapping[Any, Any]) -> Any:
    """Return the ACLs that rpk found. Raise AclTextError if it reports an error, or a part of an
    ACL is missing.
    """
    for entry in (*(content.get("filters") or ()), *(content["matches"] or ())):
        fields = entry if isinstance(entry, Mapping) else {}
        for key in _RPK_ERRORS:
            if fields.get(key):
                said = f"rpk could not list ACLs: {fields[key]}"
                raise AclTextError(said, line_of_key(entry, key))
    matches = content["matches"] or []
    for number, entry in enumerate(matches, start=1):
        for name in _KEYS_IN_YAML.keys() & entry if isinstance(entry, dict) else ():
            entry.setdefault(_KEYS_IN_YAML[name], entry.pop(name))
        missing = [key for key in KEYS if isinstance(entry, Mapping) and key not in entry]
        if missing:
            raise AclTextError(f"acl {number}: `{missing[0]}` is missing", line_of_mapping(entry))
        for key in _RPK_ERRORS if isinstance(entry, dict) else ():
            entry.pop(key, None)
    return matches


def format_acls(acls: Iterable[Acl]) -> str:
    return json_text(acls_to_objects(acls)) + "\n"


def parse_objects(objects: object) -> list[Acl]:
    """Read the objects of `acls_to_objects`; host, pattern type and permission are optional.

    Raise AclTextError, with the position in the list, for anything else.
    """
    return [acl for acl, _ in _parse_objects_with_lines(objects)]


def _parse_objects_with_lines(objects: object) -> list[AclWithLine]:
    if not isinstance(objects, Sequence) or isinstance(objects, str):
        raise AclTextError("acls must be a list of objects")
    acls: list[AclWithLine] = []
    mistakes = ErrorCollector()
    for number, entry in enumerate(objects, start=1):
        with mistakes.collect_errors(line_of_mapping(entry)):
            acls.append((parse_object(entry, f"acl {number}"), line_of_mapping(entry)))
    mistakes.raise_collected_errors()
    return acls


def parse_object(entry: object, where: str) -> Acl:
    """Read one object of `acls_to_objects`. Raise AclTextError, with `where`, if invalid."""
    if not isinstance(entry, Mapping):
        raise AclTextError(f"{where}: `{entry}` is not an object")
    fields = {**_DEFAULTS, **entry}
    for key in KEYS:
        if not isinstance(fields.get(key), str):
            raise AclTextError(f"{where}: `{key}` is missing, or is not a string")
    check_keys_are_known(fields, KEYS, where)
    lines = [line_of_key(entry, key) for key in KEYS]
    return parse_acl_texts(cast("AclTexts", tuple(fields[key] for key in KEYS)), where, lines)
