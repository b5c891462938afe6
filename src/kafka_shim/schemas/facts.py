"""Facts out of a jar's message definitions: names, types, versions, defaults; no prose."""

import json
import re
import zipfile
from pathlib import Path
from typing import Any

from kafka_shim.schemas.java_enum import read_enum_codes
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


def read_jar_definitions(path: Path, jar: Jar) -> dict[str, Definition]:
    """Return the definitions that `jar` is pinned for, by message name."""
    definitions = {}
    with zipfile.ZipFile(path) as archive:
        for entry in sorted(archive.namelist()):
            if not re.fullmatch(r"common/message/\w+\.json", entry):
                continue
            definition = parse_definition(archive.read(entry).decode())
            is_pinned = not jar.only or definition["name"] in jar.only
            if is_pinned and definition["type"] in MESSAGE_TYPES:
                definitions[definition["name"]] = definition
    if missing := jar.only - definitions.keys():
        raise LookupError(f"`{jar.artifact}` does not define {', '.join(sorted(missing))}")
    return definitions


def read_enum_codes_of_jar(path: Path) -> dict[str, dict[str, int]]:
    """Return the constants of those of ENUMS that a jar has, with their codes."""
    with zipfile.ZipFile(path) as archive:
        present = set(archive.namelist())
        return {
            name: read_enum_codes(archive.read(at)) for name, at in ENUMS.items() if at in present
        }


def parse_definition(text: str) -> Definition:
    """Read a definition (JSON with comments) and keep its facts."""
    raw = json.loads(_STRING_OR_COMMENT.sub(lambda match: match[1] or "", text))
    facts = {key: raw[key] for key in MESSAGE_KEYS if raw.get(key)}
    if "apiKey" in raw:
        facts["apiKey"] = int(raw["apiKey"])  # 0 is a key too
    facts["fields"] = [_field_facts(field) for field in raw.get("fields", [])]
    if "commonStructs" in facts:
        facts["commonStructs"] = [
            {
                "name": s["name"],
                "versions": s["versions"],
                "fields": [_field_facts(f) for f in s["fields"]],
            }
            for s in facts["commonStructs"]
        ]
    return {key: facts[key] for key in MESSAGE_KEYS if key in facts}


def _field_facts(raw: Definition) -> Definition:
    facts = {key: raw[key] for key in FIELD_KEYS if raw.get(key) not in (None, False)}
    facts.setdefault("versions", raw.get("taggedVersions"))  # a tagged field may say it once only
    if "tag" in raw:
        facts["tag"] = int(raw["tag"])
    if raw.get("default") is not None:  # Kafka ignores a null; that default would be "null"
        facts["default"] = _default_text(raw["default"])
    if "fields" in facts:
        facts["fields"] = [_field_facts(field) for field in facts["fields"]]
    return {key: facts[key] for key in FIELD_KEYS if key in facts}


def _default_text(value: object) -> str:
    """Say a default in one spelling; the definitions mix `-1` and `"-1"`, `False` and `"false"`."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def render_message_definition(definition: Definition) -> str:
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
