"""The format `json`: one object per ACL, with the field names of Redpanda's rpk.

[{"principal": "User:alice", "host": "*", "resource_type": "TOPIC", "resource_name": "orders",
"resource_pattern_type": "LITERAL", "operation": "READ", "permission": "ALLOW"}]
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from kafka_shim.authorizer.acl_formats.documents import known_keys
from kafka_shim.authorizer.acl_formats.fields import Mistakes, Parts, PlacedAcl, acl_of
from kafka_shim.authorizer.acl_formats.json_lines import load_json
from kafka_shim.authorizer.acl_formats.lines import line_of, line_under
from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import WILDCARD, Acl

_KEYS = (
    "principal",
    "host",
    "resource_type",
    "resource_name",
    "resource_pattern_type",
    "operation",
    "permission",
)
_DEFAULTS = {"host": WILDCARD, "resource_pattern_type": "LITERAL", "permission": "ALLOW"}


def read(text: str) -> list[PlacedAcl]:
    """Read a list of objects, or an object with such a list under `acls`."""
    content = load_json(text)
    if isinstance(content, dict):
        if "acls" not in content:
            raise AclTextError(
                "the key `acls` is missing; expected a list of ACLs, or a mapping with that key"
            )
        content = content["acls"]
    return _placed(content)


def write(acls: Iterable[Acl]) -> str:
    return json.dumps(to_objects(acls), indent=2, ensure_ascii=False) + "\n"


def to_objects(acls: Iterable[Acl]) -> list[dict[str, str]]:
    """Return ACLs as objects with text values; enums are written as `TRANSACTIONAL_ID`."""
    return [
        {
            "principal": acl.principal,
            "host": acl.host,
            "resource_type": acl.resource_type.name,
            "resource_name": acl.resource_name,
            "resource_pattern_type": acl.pattern_type.name,
            "operation": acl.operation.name,
            "permission": acl.permission.name,
        }
        for acl in acls
    ]


def parse_objects(objects: object) -> list[Acl]:
    """Read the objects of `to_objects`; host, pattern type and permission are optional.

    Raise AclTextError, with the position in the list, for anything else.
    """
    return [acl for acl, _ in _placed(objects)]


def _placed(objects: object) -> list[PlacedAcl]:
    if not isinstance(objects, Sequence) or isinstance(objects, str):
        raise AclTextError("acls must be a list of objects")
    found: list[PlacedAcl] = []
    mistakes = Mistakes()
    for number, entry in enumerate(objects, start=1):
        with mistakes.at(line_of(entry)):
            found.append((parse_object(entry, f"acl {number}"), line_of(entry)))
    mistakes.check()
    return found


def parse_object(entry: object, where: str) -> Acl:
    """Read one object of `to_objects`; AclTextError, beginning with `where`, for anything else."""
    if not isinstance(entry, Mapping):
        raise AclTextError(f"{where}: `{entry}` is not an object")
    fields = {**_DEFAULTS, **entry}
    for key in _KEYS:
        if not isinstance(fields.get(key), str):
            raise AclTextError(f"{where}: `{key}` is missing, or is not a string")
    known_keys(fields, _KEYS, where)
    lines = [line_under(entry, key) for key in _KEYS]
    return acl_of(cast("Parts", tuple(fields[key] for key in _KEYS)), where, lines)
