"""Write the files of a new handler, pipeline job, conformance case or command.

`python -m tests.project.scaffold handler UpdateRaftVoter`, `job slow-clients`,
`case trouble.slow-leader`, `command topics`. Each is registered, runs, and has a test that fails
until it is written; what remains to be done is printed.
"""

import argparse
import ast
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from kafka_shim.protocol.api_versions import RELEASES, served_versions
from kafka_shim.protocol.codec.catalogue import request_versions
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.apis import APIS_WITH_HANDLER
from tests.docs.shown import ROOT

SOURCE: Final = "src/kafka_shim"
_NAME: Final = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")


class ScaffoldError(Exception):
    """The name is invalid or in use."""


class Element(NamedTuple):
    """An element that is added to a tuple or dict of a module.

    `is_after` returns whether an element, as its source, stands after the new one; by default the
    new one is the last.
    """

    path: str
    variable: str
    text: str
    is_after: Callable[[str], bool] = lambda _: False


class Scaffold(NamedTuple):
    """The new files, the changes of existing ones, and the steps that remain."""

    files: Mapping[str, str]
    elements: Sequence[Element]
    steps: Sequence[str]
    appended: Mapping[str, str] = {}
    """Texts that are added at the end of files."""


HANDLER: Final = '''\
"""{key} {wire_name}, version{versions}. Write here what a real broker does that is not obvious."""

from kafka_shim.authorizer.requirements import {constant}
from kafka_shim.protocol.messages.{module} import (
    {wire_name}Request,
    {wire_name}Response,
)
from kafka_shim.shim.handlers.common.mirrored_error import mirroring_error_builder
from kafka_shim.shim.request.context import RequestContext


def handle(request: {wire_name}Request, context: RequestContext) -> {wire_name}Response:
    context.access.require({constant})
    return {wire_name}Response()


error_response = mirroring_error_builder({wire_name}Response)
'''

REQUIREMENT: Final = """\
{constant} = Requirement(
    api=ApiKey.{constant},
    any_of=terms.CLUSTER_ACTION,
    denied=terms.CLUSTER_TOP,
    source="the class of the real broker that checks it",
)
"""

HANDLER_TEST: Final = '''\
"""{wire_name}: who is allowed to send it, and what it changes."""

import pytest

from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.{module} import {wire_name}Request
from kafka_shim.protocol.responses import nonzero_error_codes
from tests.shim.play import Stage

ALICE = "User:alice"


def errors(stage: Stage) -> list[int]:
    response = stage.ask(ApiKey.{constant}, {version}, {wire_name}Request(), ALICE)
    return nonzero_error_codes(response, {version})


def test_without_an_acl_it_is_denied() -> None:
    assert errors(Stage()) == [ErrorCode.CLUSTER_AUTHORIZATION_FAILED]


def test_with_the_acl_it_is_allowed() -> None:
    stage = Stage()
    stage.allow(ALICE, Operation.CLUSTER_ACTION, ResourceType.CLUSTER, "kafka-cluster")
    assert errors(stage) == []


def test_its_effect() -> None:
    pytest.fail("write me: what it changes; mixed allowed and denied names; unknown names")
'''

JOB: Final = '''\
"""`{name}`: count requests by principal."""

import argparse
from typing import TYPE_CHECKING

from kafka_shim.pipeline.engines.engine import Relation, SqlEngine
from kafka_shim.pipeline.job import Job
from kafka_shim.pipeline.options import add_no_options
from kafka_shim.pipeline.report.outcome import Outcome, table_outcome

if TYPE_CHECKING:
    from kafka_shim.pipeline.trace_input import TraceInput

_SHOWN = ("principal", "requests")


def {module}(engine: SqlEngine, clients: Relation) -> Relation:
    """Return one row per principal; `clients` is the table `clients`."""
    return engine.sql(
        "select principal, cast(sum(requests) as bigint) as requests from {{clients}}"
        " group by principal order by principal",
        clients=clients,
    )


def _run(args: argparse.Namespace, trace_input: "TraceInput") -> Outcome:
    rows = {module}(trace_input.reader, trace_input.table("clients"))
    return table_outcome(args, trace_input, trace_input.to_deciding_engine(rows), _SHOWN)


JOB = Job("count requests by principal", add_no_options, _run)
'''

JOB_TEST: Final = '''\
"""`{name}` has the same result as a plain Python loop, on each engine."""

from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.asking import response
from tests.pipeline.traces import made

pytestmark = pytest.mark.timeout(600)
ENGINES = ("duckdb", pytest.param("spark", marks=pytest.mark.spark))


@pytest.mark.parametrize("engine", ENGINES)
def test_requests_are_counted_by_principal(
    engine: str, tmp_path: Path, capsys: Any, request: Any
) -> None:
    if engine == "spark":
        request.getfixturevalue("spark")
    found = response(capsys, "{name}", str(made(tmp_path)), "--engine", engine)
    assert found["rows"] == [{{"principal": "User:a", "requests": 2}}]


def test_agrees_with_a_plain_loop() -> None:
    pytest.fail("write me: rows of random traces, and those that a plain loop returns")
'''

CASE: Final = '''\
"""Write here what these cases are about: the subject of the file."""

from kafka_shim.conformance.case import CaseFamily
from kafka_shim.conformance.case_context import EVERYTHING, CaseContext

_FAMILY = CaseFamily("{family}")
_TOPIC = "orders"


@_FAMILY.case(
    "{name}",
    "write here what a correct client does",
    origin="KIP-0",
    expected_requests="Produce",
    commands="produce",
)
async def {module}(context: CaseContext) -> None:
    await context.create_topics(_TOPIC)
    await context.grant_to_user(*EVERYTHING)
    await context.open_client()
    await context.run_successfully("produce", topic=_TOPIC, values=["a"])


CASES = _FAMILY.cases
'''

CASE_TEST: Final = '''\
"""The cases of `{module}` pass for librdkafka, and fail if its driver has the defect."""

import pytest

from tests.conformance.test_denials import LIBRDKAFKA, failed


def test_a_correct_client_passes() -> None:
    assert failed(LIBRDKAFKA, "{family}.{name}") == set()


def test_a_client_with_the_defect_fails() -> None:
    pytest.fail("write me: add the defect to mutant_driver.py, and show that the case finds it")
'''

COMMAND: Final = '''\
"""`kafka-shim {name} NAME`: write here what the command does."""

import argparse
import json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="write here what NAME is")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(args: argparse.Namespace) -> int:
    """Print the name; return 0."""
    print(json.dumps({{"name": args.name}}) if args.json else args.name)
    return 0
'''

COMMAND_TEST: Final = '''\
"""`kafka-shim {name}`."""

import json

import pytest

from kafka_shim.cli import main


def test_prints_text_or_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["{name}", "orders"]) == 0
    assert capsys.readouterr().out == "orders\\n"
    assert main(["{name}", "orders", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {{"name": "orders"}}


def test_invalid_values_are_reported_in_one_line() -> None:
    pytest.fail("write me: wrong usages, and the error message of each")
'''

REFERENCE_STEPS: Final = (
    "describe it on a page in docs/; a test runs each command and block that a page shows",
    "`make quick` names the generated pages to update, with their commands (CONTRIBUTING.md)",
    "add a line to CHANGELOG.md",
)


def handler(name: str) -> Scaffold:
    """Return the files of an API: `UpdateRaftVoter` or `update_raft_voter`."""
    key = next((key for key in ApiKey if name in (key.wire_name, key.name.lower())), None)
    if key is None:
        raise ScaffoldError(f"unknown API `{name}`: Kafka's messages define no such request")
    if key in APIS_WITH_HANDLER:
        raise ScaffoldError(f"`{name}` has a handler already")
    low, high = request_versions(key)
    words = {
        "key": key.value,
        "constant": key.name,
        "module": key.name.lower(),
        "wire_name": key.wire_name,
        "version": high,
        "versions": f" {low}" if low == high else f"s {low}-{high}",
    }
    elements = [_by_key(key, f"{SOURCE}/shim/apis.py", "APIS_WITH_HANDLER", "")]
    if key not in served_versions(RELEASES[-1]):
        versions = f': "{RELEASES[-1]}:{low}-{high}"'
        elements.append(_by_key(key, f"{SOURCE}/protocol/api_versions.py", "_ADVERTISED", versions))
    steps = (
        "add a scenario to tests/recordings/conformance, and record a real broker with it",
        f"correct {SOURCE}/protocol/api_versions.py: the versions of each release",
        f"correct the row {key.name} in {SOURCE}/authorizer/requirements/: needs, errors, source",
        "write the handler and its test; review the differences of the golden files line by line",
        *REFERENCE_STEPS,
    )
    return Scaffold(
        {
            f"{SOURCE}/shim/handlers/{words['module']}.py": HANDLER.format(**words),
            f"tests/shim/handlers/test_{words['module']}.py": HANDLER_TEST.format(**words),
        },
        elements,
        steps,
        {f"{SOURCE}/authorizer/requirements/cluster.py": REQUIREMENT.format(**words)},
    )


def _by_key(key: ApiKey, path: str, variable: str, value: str) -> Element:
    def is_after(element: str) -> bool:
        return ApiKey[element.removeprefix("ApiKey.")] > key

    return Element(path, variable, f"ApiKey.{key.name}{value}", is_after)


def job(name: str) -> Scaffold:
    """Return the files of a pipeline job, which is named like its module, with dashes."""
    module = _module(name)
    example = f'"kafka-shim pipeline {name}": ("kafka-shim pipeline {name} trace",)'
    return Scaffold(
        {
            f"{SOURCE}/pipeline/jobs/{module}.py": JOB.format(name=name, module=module),
            f"tests/pipeline/test_{module}.py": JOB_TEST.format(name=name),
        },
        [
            Element(f"{SOURCE}/pipeline/jobs/__init__.py", "MODULES", f'"{module}"'),
            Element("tests/conftest.py", "ON_SPARK", f'"test_{module}.py"'),
            Element(f"{SOURCE}/cli/help_examples.py", "EXAMPLES", example),
        ],
        ("write the job and its test", *REFERENCE_STEPS),
    )


def case(name: str) -> Scaffold:
    """Return the files of a conformance case; its id is `FAMILY.NAME`."""
    family, dot, rest = name.partition(".")
    if not dot or not _NAME.fullmatch(family):
        raise ScaffoldError(f"invalid case `{name}`: expected FAMILY.NAME, as trouble.slow-leader")
    words = {"family": family, "name": rest, "module": _module(rest)}
    return Scaffold(
        {
            f"{SOURCE}/conformance/cases/{words['module']}.py": CASE.format(**words),
            f"tests/conformance/test_{words['module']}.py": CASE_TEST.format(**words),
        },
        [
            Element(
                f"{SOURCE}/conformance/cases/__init__.py",
                "FAMILIES",
                f'"{words["module"]}"',
            )
        ],
        (
            "write the case and its test; `runs_on_real_cluster=True` if it can, else a reason in",
            "  case_tables.py",
            "correct the numbers of cases in docs/guides/conformance.md,",
            "  and make docs/reference/conformance/cases.md again",
            *REFERENCE_STEPS,
        ),
    )


def command(name: str) -> Scaffold:
    """Return the files of a command of `kafka-shim`."""
    module = _module(name)
    example = f'"kafka-shim {name}": ("kafka-shim {name} orders",)'
    return Scaffold(
        {
            f"{SOURCE}/cli/{module}.py": COMMAND.format(name=name),
            f"tests/cli/test_{module}.py": COMMAND_TEST.format(name=name),
        },
        [
            Element(
                f"{SOURCE}/cli/__init__.py", "COMMANDS", f'"{name}": "write here what it does"'
            ),
            Element(f"{SOURCE}/cli/help_examples.py", "EXAMPLES", example),
        ],
        ("write the command and its test", *REFERENCE_STEPS),
    )


def _module(name: str) -> str:
    """Return the module of a name with dashes. Raise ScaffoldError if the name is invalid."""
    if not _NAME.fullmatch(name):
        raise ScaffoldError(f"invalid name `{name}`: expected lower-case words with dashes")
    return name.replace("-", "_")


KINDS: Final[Mapping[str, Callable[[str], Scaffold]]] = {
    "handler": handler,
    "job": job,
    "case": case,
    "command": command,
}


def write(scaffold: Scaffold, root: Path) -> None:
    """Write and register. Raise ScaffoldError, without a change, if a file exists."""
    for path in scaffold.files:
        if (root / path).exists():
            raise ScaffoldError(f"`{path}` exists already")
    for path, text in scaffold.files.items():
        (root / path).write_text(text, encoding="utf-8")
    for element in scaffold.elements:
        file = root / element.path
        file.write_text(_with_element(file.read_text(encoding="utf-8"), element), encoding="utf-8")
    for path, text in scaffold.appended.items():
        with (root / path).open("a", encoding="utf-8") as end:
            end.write(text)


def _with_element(text: str, element: Element) -> str:
    """Return a module's text with the element on a line of its own."""
    nodes = _elements(text, element.variable)
    later = (node for node in nodes if element.is_after(ast.get_source_segment(text, node) or ""))
    following = next(later, None)
    lines = text.splitlines(keepends=True)
    at = _closing_line(text, element.variable) if following is None else following.lineno - 1
    return "".join([*lines[:at], f"    {element.text},\n", *lines[at:]])


def _elements(text: str, variable: str) -> Sequence[ast.expr]:
    value = _value(text, variable)
    if isinstance(value, ast.Dict):
        return [key for key in value.keys if key is not None]
    assert isinstance(value, ast.Tuple), variable
    return value.elts


def _closing_line(text: str, variable: str) -> int:
    """Return the index of the line with the closing bracket."""
    return (_value(text, variable).end_lineno or 0) - 1


def _value(text: str, variable: str) -> ast.expr:
    """Return the value that a module assigns to a variable."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(each, ast.Name) and each.id == variable for each in targets):
                return node.value
    raise AssertionError(variable)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.project.scaffold", description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("name", metavar="NAME")
    options = parser.parse_args(arguments)
    try:
        scaffold = KINDS[options.kind](options.name)
        write(scaffold, ROOT)
    except ScaffoldError as error:
        parser.error(str(error))
    changed = dict.fromkeys([*(element.path for element in scaffold.elements), *scaffold.appended])
    lines = [*(f"new      {path}" for path in scaffold.files)]
    lines += [f"changed  {path}" for path in changed]
    lines += ["", "Next:", *(f"- {step}".replace("-   ", "  ") for step in scaffold.steps)]
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
