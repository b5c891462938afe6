"""JSON schemas of the YAML files that people write: rules of ACLs, and expectations.

They are made of the words that the parsers accept. They check keys and words; the commands also
check what depends on several keys, such as operations that a resource does not have.
"""

from typing import Any

from kafka_shim.authorizer.acl_names import camel_case
from kafka_shim.policy.expectation import RESOURCES
from kafka_shim.policy.profiles import PROFILES
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.enums import Operation

Schema = dict[str, Any]

_PRINCIPAL: Schema = {"type": "string", "pattern": "^[^:]+:", "examples": ["User:alice"]}
_TEXT: Schema = {"type": "string", "minLength": 1}
_NAMED_RESOURCES = [key for key in RESOURCES if key != "cluster"]


def _list_or_item(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "array", "minItems": 1, "items": schema}]}


def _repeatable(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "array", "items": schema}]}


def _words(words: list[str]) -> Schema:
    return {"enum": list(dict.fromkeys(words))}


def _operation() -> Schema:
    """Return the operations in the usual spellings; that of the documentation comes first."""
    operations = [each for each in Operation if each > Operation.ANY]
    names = [camel_case(each) for each in operations]
    names += [each.name for each in operations]
    lower = [name.lower() for name in names]
    return _words([*names, *lower, *(name.replace("_", "-") for name in lower)])


def _object(properties: Schema, **more: Any) -> Schema:
    """Return an object without further properties; keys may have underscores, too."""
    with_underscores = {key.replace("-", "_"): value for key, value in properties.items()}
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {**properties, **with_underscores},
        **more,
    }


def acls_schema() -> Schema:
    """Return the schema of rules in YAML, as a list or below `acls`."""
    rule = _object(
        {
            "principal": _list_or_item(_PRINCIPAL),
            "allow": {"$ref": "#/$defs/operations"},
            "deny": {"$ref": "#/$defs/operations"},
            "host": _list_or_item(_TEXT),
            "pattern": _words(["literal", "prefixed", "LITERAL", "PREFIXED"]),
            "cluster": {"type": ["string", "null"]},
            **{key: _list_or_item(_TEXT) for key in _NAMED_RESOURCES},
        },
        required=["principal"],
        allOf=[
            {"anyOf": [{"required": ["allow"]}, {"required": ["deny"]}]},
            _exactly_one_of(list(RESOURCES)),
        ],
    )
    rules: Schema = {"type": "array", "items": {"$ref": "#/$defs/rule"}}
    return {
        "anyOf": [rules, _object({"acls": rules}, required=["acls"])],
        "$defs": {"rule": rule, "operations": _list_or_item(_operation())},
    }


def expectations_schema() -> Schema:
    """Return the schema of a file of expectations, as a list or below `expect`."""
    entries: Schema = {"type": "array", "items": {"$ref": "#/$defs/expectation"}}
    file = _object(
        {
            "expect": {**entries, "minItems": 1},
            "include": _repeatable(_TEXT),
            "acls": _repeatable(_TEXT),
            "release": {"$ref": "#/$defs/release"},
            "super-users": _repeatable(_PRINCIPAL),
        },
        anyOf=[{"required": ["expect"]}, {"required": ["include"]}],
    )
    return {
        "anyOf": [{**entries, "minItems": 1}, file],
        "$defs": {
            "expectation": _expectation(),
            "operations": _list_or_item({"anyOf": [_operation(), _variable()]}),
            "activities": _list_or_item({"anyOf": [_words(list(PROFILES)), _variable()]}),
            "names": _names(),
            "release": {"anyOf": [_words(list(RELEASES)), {"type": ["string", "number"]}]},
            "exception": _object(
                {"owner": _TEXT, "reason": _TEXT, "until": {"type": "string", "format": "date"}},
                required=["owner", "reason", "until"],
            ),
        },
    }


def _variable() -> Schema:
    return {"type": "string", "pattern": "\\{.+\\}", "description": "a variable of `for`"}


def _expectation() -> Schema:
    names: Schema = {"$ref": "#/$defs/names"}
    expectation = _object(
        {
            "principal": _list_or_item(_PRINCIPAL),
            "nobody-but": _repeatable(_PRINCIPAL),
            "only": _list_or_item(_PRINCIPAL),
            "may": {"$ref": "#/$defs/operations"},
            "may-not": {"$ref": "#/$defs/operations"},
            "can": {"$ref": "#/$defs/activities"},
            "cannot": {"$ref": "#/$defs/activities"},
            "no-acl": _forbidden_acls(),
            "for": {
                "type": "object",
                "minProperties": 1,
                "additionalProperties": _list_or_item(_TEXT),
                "description": "variables: a list of values, or a file with one value per line",
            },
            "exception": {"$ref": "#/$defs/exception"},
            "cluster": {"type": ["string", "null", "boolean"]},
            **dict.fromkeys((*_NAMED_RESOURCES, "application-id", "input", "output"), names),
            "host": _list_or_item(_TEXT),
            "release": {"$ref": "#/$defs/release"},
            "name": {"type": "string"},
        }
    )
    subjects = ["principal", "nobody-but", "only"]
    verbs = ["may", "may-not", "can", "cannot"]
    access = {"allOf": [_exactly_one_of(subjects), _exactly_one_of(verbs)]}
    return {**expectation, "oneOf": [access, _exactly_one_of(["no-acl"])]}


def _exactly_one_of(keys: list[str]) -> Schema:
    spellings = {each: None for key in keys for each in (key, key.replace("-", "_"))}
    return {"oneOf": [{"required": [key]} for key in spellings]}


def _forbidden_acls() -> Schema:
    operations = {"anyOf": [{"$ref": "#/$defs/operations"}, {"type": "null"}]}
    names = {"anyOf": [{"$ref": "#/$defs/names"}, {"type": "null"}]}
    return _object(
        {
            "principal": _list_or_item(_TEXT),
            "but": _list_or_item(_PRINCIPAL),
            "allow": operations,
            "deny": operations,
            "host": _list_or_item(_TEXT),
            **dict.fromkeys(RESOURCES, names),
        },
        minProperties=1,
    )


def _names() -> Schema:
    """Return `orders`, `orders-*`, `*`, a list, `{literal: a*}` or `{like: team-*-events}`."""
    other = {key: _list_or_item(_TEXT) for key in ("literal", "like")}
    return {"anyOf": [_list_or_item(_TEXT), _object(other, minProperties=1, maxProperties=1)]}
