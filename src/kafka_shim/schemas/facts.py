"""Facts out of a jar's message definitions: names, types, versions, defaults; no prose."""

import json
import re
import zipfile
from pathlib import Path
from typing import Any

from kafka_shim.schemas.java_enum import codes
from kafka_shim.schemas.pins import Jar

Definition = dict[str, Any]

MESSAGE_KEYS = (
    "apiKey", "type", "listeners", "name", "validVersions", "flexibleVersions",
    "latestVersionUnstable", "commonStructs", "fields",
)  # fmt: skip
FIELD_KEYS = (
    "name", "type", "versions", "nullableVersions", "taggedVersions", "tag", "flexibleVersions",
    "default", "ignorable", "mapKey", "entityType", "fields",
)  # fmt: skip
MESSAGE_TYPES = {"request", "response", "header", "data", "coordinator-key", "coordinator-value"}
ENUMS = {
    "Errors": "org/apache/kafka/common/protocol/Errors.class",
    "ResourceType": "org/apache/kafka/common/resource/ResourceType.class",
    "PatternType": "org/apache/kafka/common/resource/PatternType.class",
    "AclPermissionType": "org/apache/kafka/common/acl/AclPermissionType.class",
    "AclOperation": "org/apache/kafka/common/acl/AclOperation.class",
}
"""Java's enums of the wire's codes, and where kafka-clients has them."""
_STRING_OR_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*')


def read_jar(path: Path, jar: Jar) -> dict[str, Definition]:
    """Return the definitions that `jar` is pinned for, by message name."""
    found = {}
    with zipfile.ZipFile(path) as archive:
        for entry in sorted(archive.namelist()):
            if not re.fullmatch(r"common/message/\w+\.json", entry):
                continue
            definition = parse(archive.read(entry).decode())
            wanted = not jar.only or definition["name"] in jar.only
            if wanted and definition["type"] in MESSAGE_TYPES:
                found[definition["name"]] = definition
    if missing := jar.only - found.keys():
        raise LookupError(f"`{jar.artifact}` does not define {', '.join(sorted(missing))}")
    return found


def read_codes(path: Path) -> dict[str, dict[str, int]]:
    """Return the constants of those of ENUMS that a jar has, with their codes."""
    with zipfile.ZipFile(path) as archive:
        present = set(archive.namelist())
        return {name: codes(archive.read(at)) for name, at in ENUMS.items() if at in present}


def parse(text: str) -> Definition:
    """Read a definition (JSON with comments) and keep its facts."""
    raw = json.loads(_STRING_OR_COMMENT.sub(lambda match: match[1] or "", text))
    kept = {key: raw[key] for key in MESSAGE_KEYS if raw.get(key)}
    if "apiKey" in raw:
        kept["apiKey"] = int(raw["apiKey"])  # 0 is a key too
    kept["fields"] = [_field(field) for field in raw.get("fields", [])]
    if "commonStructs" in kept:
        kept["commonStructs"] = [
            {
                "name": s["name"],
                "versions": s["versions"],
                "fields": [_field(f) for f in s["fields"]],
            }
            for s in kept["commonStructs"]
        ]
    return {key: kept[key] for key in MESSAGE_KEYS if key in kept}


def _field(raw: Definition) -> Definition:
    kept = {key: raw[key] for key in FIELD_KEYS if raw.get(key) not in (None, False)}
    kept.setdefault("versions", raw.get("taggedVersions"))  # a tagged field may say it once only
    if "tag" in raw:
        kept["tag"] = int(raw["tag"])
    if "default" in raw:
        kept["default"] = _default(raw["default"])
    if "fields" in kept:
        kept["fields"] = [_field(field) for field in kept["fields"]]
    return {key: kept[key] for key in FIELD_KEYS if key in kept}


def _default(value: object) -> str:
    """Say a default in one spelling; the definitions mix `-1` and `"-1"`, `False` and `"false"`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def render(definition: Definition) -> str:
    """Say a definition as JSON with a field a line, so that changes read well."""
    lines = []
    for key, value in definition.items():
        if key == "fields":
            text = _render_fields(value, 1)
        elif key == "commonStructs":
            structs = ",\n".join(
                f'  {{"name": {json.dumps(s["name"])}, "versions": {json.dumps(s["versions"])}, '
                f'"fields": {_render_fields(s["fields"], 2)}}}'
                for s in value
            )
            text = f"[\n{structs}\n ]"
        else:
            text = json.dumps(value)
        lines.append(f" {json.dumps(key)}: {text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _render_fields(fields: list[Definition], depth: int) -> str:
    if not fields:
        return "[]"
    lines = []
    for field in fields:
        pairs = [
            f"{json.dumps(key)}: "
            + (_render_fields(value, depth + 1) if key == "fields" else json.dumps(value))
            for key, value in field.items()
        ]
        lines.append(" " * (depth + 1) + "{" + ", ".join(pairs) + "}")
    return "[\n" + ",\n".join(lines) + "\n" + " " * depth + "]"
