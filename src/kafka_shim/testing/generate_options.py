"""Write the types of a broker's options, for type checkers of Python and TypeScript.

`python -m kafka_shim.testing.generate_options` writes options.py, and the interface
BrokerOptions in packages/npm/index.d.ts.
"""

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from kafka_shim.shim.settings.options import BrokerOption, Kind, Place, options_of_place

FILE: Final = Path(__file__).parent / "options.py"
TYPESCRIPT_FILE: Final = Path(__file__).parents[3] / "packages" / "npm" / "index.d.ts"
_INTERFACE: Final = "export interface BrokerOptions {\n"
_END: Final = "\n}\n"
_LINE_WIDTH: Final = 96
HEAD: Final = '''\
"""The keywords of `start` and the fixtures. Generated from the table of options: do not edit."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Literal, TypedDict

Path = str | PathLike[str]


class TopicOptions(TypedDict, total=False):
    """A topic; settings by Kafka's names."""

    partitions: int
    replication_factor: int
    configs: Mapping[str, str | int | bool]


class Options(TypedDict, total=False):
    """The options of a broker; None means the default.

    An option of `kafka-shim serve` has its name here, in the plural if it is repeatable.
    Relative paths start at the current folder.
    """

'''
_PYTHON_TYPES: Final = {
    Kind.TEXT: "str",
    Kind.INTEGER: "int",
    Kind.NUMBER: "float",
    Kind.FLAG: "bool",
    Kind.FILE: "Path",
    Kind.PATH: "Path",
    Kind.FLAG_OR_FILE: "bool | Path",
    Kind.TEXTS: "Sequence[str]",
    Kind.PAIRS: "Mapping[str, str]",
    Kind.TOPICS: "Mapping[str, int | TopicOptions | None] | Sequence[str]",
    Kind.ACLS: "Sequence[Mapping[str, Any]] | Path",
    Kind.OBJECTS: "Sequence[Mapping[str, Any]]",
    Kind.OBJECT: "Mapping[str, Any]",
}
_TYPESCRIPT_TYPES: Final = {
    Kind.TEXT: "string",
    Kind.INTEGER: "number",
    Kind.NUMBER: "number",
    Kind.FLAG: "boolean",
    Kind.FILE: "string",
    Kind.PATH: "string",
    Kind.FLAG_OR_FILE: "boolean | string",
    Kind.TEXTS: "string[]",
    Kind.PAIRS: "Record<string, string>",
    Kind.TOPICS: "string[] | Record<string, number | Record<string, unknown>>",
    Kind.ACLS: "Acl[]",
    Kind.OBJECTS: "Fault[]",
    Kind.OBJECT: "Record<string, unknown>",
}


def options_source() -> str:
    """Return the source of options.py."""
    return HEAD + "".join(map(_python_field, options_of_place(Place.KEYWORD)))


def _python_field(option: BrokerOption) -> str:
    choices = ", ".join(f'"{choice}"' for choice in option.choices or ())
    kind = f"Literal[{choices}]" if choices else _PYTHON_TYPES[option.kind]
    lines = textwrap.wrap(f'"""{option.text_for_value}."""', _LINE_WIDTH)
    if len(lines) > 1:
        lines = [*lines[:-1], lines[-1].removesuffix('"""'), '"""']
    text = "".join(f"    {line}\n" for line in lines)
    return f"    {option.key}: {kind} | None\n{text}"


def typescript_source() -> str:
    """Return the interface of the options, as in index.d.ts."""
    lines = [line for option in options_of_place(Place.BODY) for line in _typescript_lines(option)]
    return _INTERFACE + "\n".join(lines) + _END


def _typescript_lines(option: BrokerOption) -> Iterator[str]:
    choices = " | ".join(f'"{choice}"' for choice in option.choices or ())
    name = re.sub("_(.)", lambda match: match[1].upper(), option.key)
    *lines, last = textwrap.wrap(
        f"/** {option.text_for_value}.",
        _LINE_WIDTH,
        initial_indent="  ",
        subsequent_indent="   * ",
    )
    yield from (*lines, f"{last} */")
    yield f"  {name}?: {choices or _TYPESCRIPT_TYPES[option.kind]};"


def typescript_file() -> str:
    """Return the text of index.d.ts with the current options."""
    before, _, rest = TYPESCRIPT_FILE.read_text(encoding="utf-8").partition(_INTERFACE)
    return before + typescript_source() + rest.partition(_END)[2]


if __name__ == "__main__":
    FILE.write_text(options_source(), encoding="utf-8")
    TYPESCRIPT_FILE.write_text(typescript_file(), encoding="utf-8")
