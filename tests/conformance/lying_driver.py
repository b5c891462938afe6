"""librdkafka's driver with results that are plausible, but wrong: `lying_driver.py LIE FILE`.

The client does everything that it is asked to do. The lie is told in each successful answer that
has such a result, and a byte is then appended to the file. offset: all offsets are one too large.
longer and shorter: a list has one element too many, or lacks its last one, except records, which a
client may return later. lost: no record is ever returned. text: the last character of each text is
another one. number: numbers of members, brokers and partitions are one too large.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "conformance" / "drivers"))

import confluent_kafka_driver as driver
from line_loop import serve

Result = Any
COUNTS = ("partitions", "members", "brokers")


def later_offset(name: str, value: Any) -> Any:
    if name == "offset" and value is not None:
        return value + 1
    return [each + 1 for each in value] if name == "offsets" else value


def longer(name: str, value: Any) -> Any:
    return [*value, value[0] if value else _made_up(name)] if isinstance(value, list) else value


def _made_up(name: str) -> Any:
    return "made up" if name in ("topics", "groups", "values") else {}


def shorter(name: str, value: Any) -> Any:
    return value[:-1] if isinstance(value, list) and name != "values" else value


def lost(name: str, value: Any) -> Any:
    return [] if name == "values" else value


def other_text(name: str, value: Any) -> Any:
    if isinstance(value, str) and value:
        return value[:-1] + ("x" if value[-1] != "x" else "y")
    if isinstance(value, list):
        return [other_text(name, each) for each in value]
    if isinstance(value, dict):
        return {key: other_text(key, each) for key, each in value.items()}
    return value


def larger_number(name: str, value: Any) -> Any:
    if name not in COUNTS:
        return value
    return [each + 1 for each in value] if isinstance(value, list) else value + 1


LIES: dict[str, Callable[[str, Any], Any]] = {
    "offset": later_offset,
    "longer": longer,
    "shorter": shorter,
    "lost": lost,
    "text": other_text,
    "number": larger_number,
}


def lying(run: Callable[..., Any], lie: Callable[[str, Any], Any], told: Path) -> Any:
    """Return a command that lies about each of its results."""

    def false_fields(result: dict[str, Any]) -> dict[str, Any]:
        changed = {name: lie(name, value) for name, value in result.items()}
        if changed != result:
            with told.open("a") as file:
                file.write("x")
        return changed

    def run_and_lie(**fields: Any) -> Any:
        result = run(**fields)
        if not isinstance(result, dict):
            return result
        if "items" not in result:
            return false_fields(result)
        return {
            "items": {
                name: false_fields(item) if isinstance(item, dict) else item
                for name, item in result["items"].items()
            }
        }

    return run_and_lie


if __name__ == "__main__":
    lie = LIES[sys.argv[1]]
    honest = ("open", "close", "wait", "set_login")
    commands = {
        name: run if name in honest else lying(run, lie, Path(sys.argv[2]))
        for name, run in driver.COMMANDS.items()
    }
    serve("liar", sys.argv[1], commands, driver.error_of)
