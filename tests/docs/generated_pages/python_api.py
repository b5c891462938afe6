"""docs/reference/python-api.md, made from the signatures and docstrings of `kafka_shim.testing`."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any, Final

import kafka_shim.testing as api
from kafka_shim.cli.reference import plain_text_in_markdown
from kafka_shim.testing.faults import Faults
from kafka_shim.testing.policy import KafkaPolicy, PolicyDecision
from kafka_shim.testing.resources import Acls, Clock, Groups, Nodes, Topics, Users
from kafka_shim.testing.row import Row

_INTRODUCTION: Final = """\
# Python API

The classes and functions of `kafka_shim.testing`, which the [pytest fixtures](../guides/pytest.md)
return. Without pytest, `from kafka_shim.testing import start` and `with start() as broker:` give
the same broker. It is a process of its own, which ends with the `with`, and by default everything
in it is in memory. With `in_process=True`, it is a thread of this process.

The calls work from any thread, and from coroutines ([asyncio](../guides/pytest.md#asyncio)). They
have an effect before they return. If a call fails, it raises `BrokerError` with the reason in one
line. A row of a result, such as a denial or a topic, is a dict whose keys are also attributes. A
broker keeps its last 10,000 requests, and their decisions.

[Keywords](../guides/pytest.md#keywords) describes the keywords of `start`. The package has type
hints. [Tests with pytest](../guides/pytest.md) and [Fault
injection](../guides/faults.md) have examples.
"""
_PARTS: Final = {
    "acls": Acls,
    "topics": Topics,
    "groups": Groups,
    "users": Users,
    "faults": Faults,
    "clock": Clock,
    "nodes": Nodes,
}
_OBJECTS: Final = (api.InjectedFault, KafkaPolicy, PolicyDecision, api.KafkaCassette)
_OPTIONS: Final = (
    api.Options,
    api.TopicOptions,
    api.DecisionFilters,
    api.FaultOptions,
    api.OffsetOptions,
    api.Rule,
)


def python_api_page() -> str:
    """Return the page: what each class and method does, with its signature."""
    lines = [_INTRODUCTION, "## start", "", *_function_lines("start", api.start)]
    lines += [
        "## KafkaBroker",
        "",
        _text(api.KafkaBroker),
        "",
        *_member_lines(api.KafkaBroker, "broker"),
    ]
    for name, part in _PARTS.items():
        lines += [f"## broker.{name}", "", _text(part), "", *_member_lines(part, f"broker.{name}")]
    for kind in _OBJECTS:
        lines += [f"## {kind.__name__}", "", _text(kind), "", *_member_lines(kind, "")]
    lines += ["## Keywords", ""]
    for options in _OPTIONS:
        lines += _field_lines(options)
    lines += ["## Rows", ""]
    for name in api.__all__:
        kind = getattr(api, name)
        if isinstance(kind, type) and issubclass(kind, Row) and kind is not Row:
            lines += _field_lines(kind)
    return "\n".join(lines)


def _member_lines(kind: type, prefix: str) -> Iterator[str]:
    """Yield the public methods and properties of a class, in the order of the source."""
    for name, member in vars(kind).items():
        title = f"{prefix}.{name}" if prefix else name
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            yield from (f"### {title}", "", _text(member.fget), "")
        elif inspect.isfunction(member):
            yield f"### {title}"
            yield ""
            yield from _function_lines(name, member)


def _function_lines(name: str, function: Any) -> Iterator[str]:
    yield from ("```", f"{name}{_signature(function)}", "```", "", _text(function), "")


def _signature(function: Any) -> str:
    """Return the parameters and the result as in the source, without `self`."""
    [node] = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    assert isinstance(node, ast.FunctionDef)
    parameters = re.sub(r"^self(, )?", "", ast.unparse(node.args))
    result = ast.unparse(node.returns) if node.returns else "None"
    return re.sub(r"Unpack\[(\w+)\]", r"\1", f"({parameters}) -> {result}")


def _field_lines(kind: type) -> Iterator[str]:
    yield from (f"### {kind.__name__}", "", _text(kind), "", "| key | type |", "|---|---|")
    [node] = ast.parse(inspect.getsource(kind)).body
    assert isinstance(node, ast.ClassDef)
    for field in node.body:
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            annotation = ast.unparse(field.annotation).replace("|", "\\|")
            yield f"| `{field.target.id}` | `{annotation}` |"
    yield ""


def _text(documented: Any) -> str:
    """Return the docstring in one paragraph for each of its paragraphs."""
    text = inspect.getdoc(documented) or ""
    paragraphs = [" ".join(part.split()) for part in text.split("\n\n")]
    return "\n\n".join(map(plain_text_in_markdown, paragraphs))
