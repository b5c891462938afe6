"""`kafka-shim policy schema`: JSON schemas of the files and of the JSON that commands print."""

import argparse
import json
from collections.abc import Callable
from typing import Any

from kafka_shim.policy import input_schemas, output_schemas
from kafka_shim.shim.settings.state_file_schema import state_file_schema

Schema = dict[str, Any]


def _state_schema() -> Schema:
    acls = input_schemas.acls_schema()["$defs"]
    schema = state_file_schema(
        {"anyOf": [{"$ref": "#/$defs/rule"}, output_schemas.acl_object_schema()]}
    )
    return {**schema, "$defs": {**schema["$defs"], **acls}}


SCHEMAS: dict[str, Callable[[], Schema]] = {
    "acls": input_schemas.acls_schema,
    "expectations": input_schemas.expectations_schema,
    "plan": output_schemas.plan_schema,
    "test": output_schemas.expectation_results_schema,
    "diff": output_schemas.diff_schema,
    "lint": output_schemas.lint_schema,
    "matrix": output_schemas.matrix_schema,
    "check": output_schemas.check_schema,
    "relation": output_schemas.relation_schema,
    "state": _state_schema,
}
DESCRIPTION = """\
Print a JSON schema (draft 2020-12). With these schemas, editors complete and check files: `acls`
(rules in YAML), `expectations`, `state` (the file of `serve --state`) and `plan` (saved by `policy
plan --out`). With the others, programs read the output of `policy test`, `diff`, `lint`, `matrix`
and `check` with --json, and of `equivalent`, `implies` and `disjoint` (`relation`).

  kafka-shim policy schema expectations > .vscode/policy-expectations.json

The first line of a YAML file can name its schema, a file or an address:

  # yaml-language-server: $schema=.vscode/policy-expectations.json

Exit codes: 0 done, 2 usage error.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    parser.add_argument(
        "name", choices=list(SCHEMAS), metavar="NAME", help=f"One of {', '.join(SCHEMAS)}"
    )


def run(args: argparse.Namespace) -> int:
    print(schema_text(args.name), end="")
    return 0


def schema_text(name: str) -> str:
    """Return a schema as JSON text, with the version of JSON schema and its title."""
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"kafka-shim policy: {name}",
    }
    return json.dumps({**head, **SCHEMAS[name]()}, indent=2) + "\n"
