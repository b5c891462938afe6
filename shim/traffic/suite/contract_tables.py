"""The driver contract as tables in Markdown, for people who write a driver."""

from collections.abc import Iterator

from kafka_shim.shim.traffic.suite.commands import COMMANDS
from kafka_shim.shim.traffic.suite.contract import CAPABILITIES, SETTINGS
from kafka_shim.shim.traffic.suite.shapes import SHARED, Shape, object_of


def tables() -> Iterator[str]:
    """Yield lines: commands with their fields and answers, shapes, capabilities, settings.

    `?` after a name: the field may be left out. `{*: X}`: an object with any names.
    """
    yield "| command | comes with | `ok` has | what to do |"
    yield "|---|---|---|---|"
    for name, command in COMMANDS.items():
        comes_with = _cell(object_of(**command.fields))
        yield f"| `{name}` | {comes_with} | {_cell(command.answer())} | {command.what} |"
    yield from ("", "| shape | fields |", "|---|---|")
    for name, shape in SHARED.items():
        yield f"| `{name}` | {_cell(shape)} |"
    yield from ("", "| capability | the client |", "|---|---|")
    yield from (f"| `{name}` | {what} |" for name, what in CAPABILITIES.items())
    yield from ("", "| setting | what |", "|---|---|")
    yield from (f"| `{name}` | {what} |" for name, what in SETTINGS.items())


def _cell(shape: Shape) -> str:
    fields = _fields(shape)
    return f"`{fields}`" if fields else ""


def _fields(shape: Shape) -> str:
    required = shape["required"]
    return ", ".join(
        f"{name}{'' if name in required else '?'}: {written(field)}"
        for name, field in shape["properties"].items()
    )


def written(shape: Shape) -> str:
    """Write a shape in short, such as `[string]` or `{*: integer}`."""
    if "$ref" in shape:
        return str(shape["$ref"]).rpartition("/")[2]
    if "anyOf" in shape:
        return " or ".join(written(each) for each in shape["anyOf"])
    if "enum" in shape:
        return " or ".join(f'"{each}"' for each in shape["enum"])
    if shape["type"] == "array":
        return f"[{written(shape['items'])}]"
    return _object(shape) if shape["type"] == "object" else str(shape["type"])


def _object(shape: Shape) -> str:
    if "properties" in shape:
        return f"{{{_fields(shape)}}}"
    names = shape.get("additionalProperties")
    return f"{{*: {'any' if names is None else written(names)}}}"
