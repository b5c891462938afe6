"""JSON schemas of saved plans, and of what commands print with --json."""

from typing import Any

from kafka_shim.authorizer.authorizer import ALLOW_EVERYONE, AUTHORIZER_CLASS, SUPER_USERS
from kafka_shim.authorizer.model import DecisionReason
from kafka_shim.policy import plan_file
from kafka_shim.policy.formats.json_objects import KEYS as ACL_KEYS
from kafka_shim.policy.gates import GATES
from kafka_shim.policy.lint import FINDING_KINDS
from kafka_shim.policy.relations import Relation
from kafka_shim.protocol.enums import Operation, ResourceType

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_FLAG: Schema = {"type": "boolean"}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_SHA256: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$"}
_LINE: Schema = {"type": "integer", "minimum": 0, "description": "0: unknown"}
_OPERATION: Schema = {"enum": [each.name for each in Operation if each > Operation.ANY]}
_RESOURCE_TYPE: Schema = {"enum": [each.name for each in ResourceType if each > ResourceType.ANY]}
_REASON: Schema = {"enum": [each.name for each in DecisionReason]}


def _object(properties: Schema, optional: tuple[str, ...] = ()) -> Schema:
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        "required": [key for key in properties if key not in optional],
    }


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _nullable(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


_ACL = _object(
    dict.fromkeys(ACL_KEYS, _TEXT) | {"operation": _OPERATION, "resource_type": _RESOURCE_TYPE}
)
_NAMES: Schema = {"oneOf": [_object({"name": _TEXT}), _object({"prefix": _TEXT})]}
_STEP = _object({"action": {"enum": ["add", "remove"]}, "acl": _ACL})
_ACCESS: Schema = {
    "principal": _TEXT,
    "host": _TEXT,
    "operation": _OPERATION,
    "resource_type": _RESOURCE_TYPE,
    "resource_name": _nullable(_TEXT),
}
_ASSUMED_SETTINGS: Schema = {
    "type": "array",
    "items": {"enum": [ALLOW_EVERYONE, SUPER_USERS, AUTHORIZER_CLASS]},
    "description": "settings of a cluster whose values its broker does not return;"
    f" {AUTHORIZER_CLASS} if its authorizer is not Kafka's own",
}
_RELATION: Schema = {"enum": [each.value for each in Relation]}
_DECISION = _object({"allowed": _FLAG, "because": _REASON, "acl": _nullable(_ACL)})


def acl_object_schema() -> Schema:
    """Return the schema of one ACL as a JSON object."""
    return _ACL


def plan_schema() -> Schema:
    """Return the schema of the files of `policy plan --out`."""
    request = _object({"action": {"enum": ["add", "remove"]}, "acls": _list(_ACL)})
    return _object(
        {
            "format": {"const": plan_file.FORMAT},
            "version": {"const": plan_file.VERSION},
            "source": _TEXT,
            "release": _TEXT,
            "old_acls_sha256": _SHA256,
            "new_acls_sha256": _SHA256,
            "requests": _list(request),
            "interim": _list(_TEXT),
        }
    )


def expectation_results_schema() -> Schema:
    """Return the schema of `policy test --json`: a list with an object per expectation."""
    access = _object(
        {
            "principal": _TEXT,
            "host": _TEXT,
            "operation": _OPERATION,
            "resource_type": _RESOURCE_TYPE,
            "names": _nullable(_NAMES),
            "requirement": _nullable(_TEXT),
            "allowed": _FLAG,
            "because": _REASON,
            "acl": _nullable(_ACL),
        }
    )
    return _list(
        _object(
            {
                "file": _TEXT,
                "line": _LINE,
                "expectation": _TEXT,
                "release": _TEXT,
                "held": _FLAG,
                "failed": _FLAG,
                "exception": _nullable(_TEXT),
                "responses": _list(access),
                "acls": _list(_ACL),
                "to_hold": _list(_STEP),
                "to_hold_without_deny": _list(_STEP),
                "also_changes": _list(_TEXT),
            }
        )
    )


def _access_change_schema() -> Schema:
    witness = _object({**_ACCESS, "before": _DECISION, "after": _DECISION})
    return _object(
        {
            "change": {"enum": ["gain", "loss"]},
            "principal": _TEXT,
            "except_principals": _list(_TEXT),
            "resource_type": _RESOURCE_TYPE,
            "names": _nullable(_NAMES),
            "except_names": _list(_NAMES),
            "operations": _list(_OPERATION),
            "hosts": _list(_TEXT),
            "except_hosts": _list(_TEXT),
            "text": _TEXT,
            "follows_from_others": _FLAG,
            "witness": _nullable(witness),
            "used": {"type": "integer", "description": "with --used-by only"},
        },
        optional=("used",),
    )


def diff_schema() -> Schema:
    """Return the schema of `policy diff --json`."""
    return _object(
        {
            "release": _TEXT,
            "assumed_settings": _ASSUMED_SETTINGS,
            "changes": _list(_access_change_schema()),
        }
    )


def check_schema() -> Schema:
    """Return the schema of `policy check --json`."""
    return _object(
        {
            "gate": {"enum": list(GATES)},
            "passed": _FLAG,
            "release": _TEXT,
            "assumed_settings": _ASSUMED_SETTINGS,
            "changes": _list(_access_change_schema()),
        }
    )


def relation_schema() -> Schema:
    """Return the schema of `policy equivalent`, `implies` and `disjoint` with --json."""
    return _object(
        {
            "relation": _RELATION,
            "holds": _FLAG,
            "a": _TEXT,
            "b": _TEXT,
            "counterexample": _nullable(_object({**_ACCESS, "a": _DECISION, "b": _DECISION})),
            "impossible_differences": _COUNT,
        }
    )


def lint_schema() -> Schema:
    """Return the schema of `policy lint --json`: a list with an object per finding."""
    located = {"file": _TEXT, "line": _LINE, "acl": _ACL}
    finding = {"kind": {"enum": list(FINDING_KINDS)}, **located, "said": _TEXT}
    return _list(_object({**finding, "because": _list(_object(located))}))


def matrix_schema() -> Schema:
    """Return the schema of `policy matrix --json`: a list with an object per cell."""
    operations = _list(_OPERATION)
    return _list(
        _object(
            {
                "principal": _TEXT,
                "resource_type": _RESOURCE_TYPE,
                "names": _NAMES,
                "allowed": operations,
                "partly": operations,
            }
        )
    )
