"""A tool on librdkafka's admin client with a mistake that cases must find.

`python false_tool.py NAME confluent_kafka_driver`

right: none. all-or-nothing: an error of one item is that of all. first-error: stops at the first
item with an error. silent: shows nothing about an item with an error. blind: shows nothing at all.
optimistic: reports success for items with errors. strict: fails if a principal is not `User:name`.
first-page: shows 1,000 ACLs. needs-operations: shows only topics with authorized operations.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "conformance" / "drivers"))

import admin_tool
from line_loop import serve

NAME = sys.argv[1]
Command = Callable[..., Any]
NOT_SHOWN = {"class": "NotShown", "code": None, "text": "no row"}
PAGE = 1000


def has_error(item: Any) -> bool:
    return isinstance(item, Exception)


def all_or_nothing(found: Any) -> Any:
    for item in found.get("items", {}).values():
        if has_error(item):
            raise item
    return found


def first_error(found: Any) -> Any:
    has_stopped = False
    for name, item in sorted(
        found.get("items", {}).items(), key=lambda pair: not has_error(pair[1])
    ):
        has_stopped |= has_error(item)
        if has_stopped and not has_error(item):
            found["items"][name] = NOT_SHOWN
    return found


def silent(found: Any) -> Any:
    rows = {name: NOT_SHOWN if has_error(item) else item for name, item in _items(found).items()}
    return {**found, "items": rows} if rows else found


def blind(found: Any) -> Any:
    return {"items": dict.fromkeys(_items(found), NOT_SHOWN)} if "items" in found else {"names": []}


def optimistic(found: Any) -> Any:
    rows = {name: {} if has_error(item) else item for name, item in _items(found).items()}
    return {**found, "items": rows} if rows else found


def strict(found: Any) -> Any:
    for name in found.get("names", ()):
        if ":" not in name:
            raise ValueError(f"invalid principal {name}")
    return found


def first_page(found: Any) -> Any:
    return {**found, "names": found["names"][:PAGE]} if "names" in found else found


def needs_operations(found: Any) -> Any:
    for item in _items(found).values():
        if not has_error(item) and "operations" in item and item["operations"] is None:
            raise TypeError("operations is None")
    return found


def _items(found: Any) -> dict[str, Any]:
    rows: dict[str, Any] = found.get("items", {})
    return rows


MISTAKES = {
    "right": lambda found: found,
    "all-or-nothing": all_or_nothing,
    "first-error": first_error,
    "silent": silent,
    "blind": blind,
    "optimistic": optimistic,
    "strict": strict,
    "first-page": first_page,
    "needs-operations": needs_operations,
}


def mistaken(command: Command, kind: str | None) -> Command:
    def run(**fields: Any) -> Any:
        is_list = kind is not None and fields.get("kind") not in (None, kind)
        return command(**fields) if is_list else MISTAKES[NAME](command(**fields))

    return run


if __name__ == "__main__":
    of_acls = "acls" if NAME == "strict" else None
    commands = {
        "open": admin_tool.do["open"],
        "close": admin_tool.do["close"],
        "list": mistaken(admin_tool.show_list, of_acls),
        "describe": mistaken(admin_tool.describe, None),
        "change": mistaken(admin_tool.change, None),
    }
    serve(NAME, "", commands, admin_tool.library.error_of)
