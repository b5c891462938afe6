"""The JSON schema of state files, with which editors complete and check them."""

from typing import Any

import msgspec

from kafka_shim.shim.faults.spec import FaultSpec

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string", "minLength": 1}
_COUNT: Schema = {"type": "integer", "minimum": 1}
_OFFSET: Schema = {"type": "integer", "minimum": 0}


def _nullable_object(properties: Schema) -> Schema:
    return {
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": properties,
    }


def _mapping_schema(schema: Schema, description: str) -> Schema:
    return {
        "type": ["object", "null"],
        "additionalProperties": schema,
        "description": description,
    }


def state_file_schema(acl_schema: Schema) -> Schema:
    """Return the schema of a state file whose ACLs have this schema."""
    settings = _mapping_schema(
        {"type": ["string", "number", "boolean"]}, "settings by Kafka's names"
    )
    topic = _nullable_object(
        {"partitions": _COUNT, "replication_factor": _COUNT, "configs": settings}
    )
    offsets: Schema = {
        "type": "object",
        "additionalProperties": False,
        "patternProperties": {"^[0-9]+$": _OFFSET},
    }
    fault, definitions = _fault_schema_with_definitions()
    return {
        **_nullable_object(
            {
                "users": _mapping_schema(_TEXT, "passwords by user"),
                "super_users": {
                    "type": ["array", "null"],
                    "items": {**_TEXT, "pattern": "^[^:]+:", "examples": ["User:admin"]},
                },
                "topics": {
                    "anyOf": [
                        _mapping_schema(
                            {"anyOf": [_COUNT, topic]}, "number of partitions, or settings"
                        ),
                        {"type": "array", "items": _TEXT},
                    ]
                },
                "acls": {"type": ["array", "null"], "items": acl_schema},
                "groups": _mapping_schema(
                    {"type": ["object", "null"], "additionalProperties": offsets},
                    "committed offsets by group, topic and partition",
                ),
                "client_metrics": _mapping_schema(settings, "subscriptions of client telemetry"),
                "faults": {"type": ["array", "null"], "items": fault},
            }
        ),
        "$defs": definitions,
    }


def _fault_schema_with_definitions() -> tuple[Schema, Schema]:
    (fault,), definitions = msgspec.json.schema_components(
        [FaultSpec], ref_template="#/$defs/{name}"
    )
    return fault, definitions
