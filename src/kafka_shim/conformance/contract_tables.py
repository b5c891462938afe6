"""The driver contract as a page in Markdown, for people who write a driver."""

import json
from collections.abc import Iterator

from kafka_shim.conformance.commands import COMMANDS, RESULTS, Command, Field, read_contract

EACH = "each item"


def contract_page_lines() -> Iterator[str]:
    """Yield the page's lines: commands with examples, shared objects, capabilities, settings."""
    contract = read_contract()
    yield "## Commands"
    for name, command in COMMANDS.items():
        yield from ("", f"### `{name}`", "", command.description, "")
        yield from _field_rows(command)
        yield from ("", "```json", *_example_exchange(name, command), "```")
    yield from ("", "## Objects in several commands")
    for name, fields in contract.objects.items():
        yield from ("", f"### `{name}`", "", "| field | type | meaning |", "|---|---|---|")
        yield from (f"| {_field_cells(field)} |" for field in fields)
    yield from ("", "## Capabilities", "", "| capability | the client |", "|---|---|")
    yield from (f"| `{name}` | {what} |" for name, what in contract.capabilities.items())
    yield from ("", "## Settings", "", "| setting | meaning |", "|---|---|")
    yield from (f"| `{name}` | {what} |" for name, what in contract.settings.items())


def _example_exchange(name: str, command: Command) -> list[str]:
    client = {"client": "c"} if command.has_client else {}
    request = {"id": 1, "command": name, **client, **command.example}
    return [json.dumps(request), json.dumps({"id": 1, "ok": command.example_ok})]


def _field_rows(command: Command) -> Iterator[str]:
    if not command.fields and not command.ok:
        yield "The command has no other fields, and `ok` is empty."
        return
    yield "| | field | type | meaning |"
    yield "|---|---|---|---|"
    yield from (f"| in | {_field_cells(field)} |" for field in command.fields)
    yield from (f"| `ok` | {_field_cells(field)} |" for field in command.ok)
    yield from (f"| {EACH} | {_field_cells(field)} |" for field in command.result)


def _field_cells(field: Field) -> str:
    mark = "?" if field.is_optional else ""
    return f"`{field.name}`{mark} | {_type_in_markdown(field.type)} | {field.meaning}"


def _type_in_markdown(words: str) -> str:
    """Return a type with the names of objects, and the values of a choice, as code."""
    if words == RESULTS:
        return f"by name, {EACH} or an `error`"
    names = read_contract().objects
    return " ".join(
        " or ".join(f"`{each}`" for each in word.split("|"))
        if "|" in word or word in names
        else word
        for word in words.split(" ")
    )
