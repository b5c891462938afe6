"""librdkafka's driver with a defect that cases must find: `mutant_driver.py NAME`.

swallows: reports success if a topic is denied. retries: repeats the request while a group is
denied. no-name: reports errors without their code. stale: repeats a first denial without a new
request. minimum: reports all operations if the response has none (the smallest integer).
unknown: reports success for error codes that it does not know. behind: after its consumer
reported a denial, it repeats a denied request in the background, on an open connection.
"""

import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "conformance" / "drivers"))

import confluent_kafka_driver as driver
from line_loop import serve

Command = Callable[..., Any]
_kept: dict[str, Any] = {}


def swallows(command: Command, fields: dict[str, Any]) -> Any:
    try:
        found = command(**fields)
    except Exception as error:
        if driver.error_of(error)["code"] == 29:
            return {}
        raise
    items = (found or {}).get("items", {})
    for name, item in items.items():
        if _code(item) == 29:
            items[name] = {}
    return found


def retries(command: Command, fields: dict[str, Any]) -> Any:
    """Repeat a denied command, in threads: on a slow machine one alone is no storm."""

    def result_unless_denied(_: int = 0) -> Any:
        try:
            result = command(**fields)
        except Exception as error:
            if driver.error_of(error)["code"] != 30:
                raise
            return None
        return None if 30 in _codes(result) else (result,)

    first = result_unless_denied()
    if first is not None:
        return first[0]
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(result_unless_denied, range(TRIES)))
    return command(**fields)


def no_name(command: Command, fields: dict[str, Any]) -> Any:
    try:
        return command(**fields)
    except Exception as error:
        raise RuntimeError(str(error)) from error


ALL = ["READ", "WRITE", "CREATE", "DELETE", "ALTER", "DESCRIBE", "ALTER_CONFIGS"]
CODES_MAX = 200
TRIES = 100
THREADS = 8
DENIALS = {29, 30, 31}


def minimum(command: Command, fields: dict[str, Any]) -> Any:
    found = command(**fields)
    if not fields.get("operations"):
        return found
    for item in [found, *found.get("items", {}).values()]:
        if isinstance(item, dict) and "operations" in item and item["operations"] is None:
            item["operations"] = ALL
    return found


def unknown(command: Command, fields: dict[str, Any]) -> Any:
    try:
        found = command(**fields)
    except Exception as error:
        if (driver.error_of(error)["code"] or 0) > CODES_MAX:
            return {"offsets": []} if command.__name__ == "produce" else {}
        raise
    items = (found or {}).get("items", {})
    for name, item in items.items():
        if (_code(item) or 0) > CODES_MAX:
            items[name] = {"offset": 0, "operations": None, "settings": {}}
    return found


def stale(command: Command, fields: dict[str, Any]) -> Any:
    key = f"{command.__name__} {fields}"
    if key in _kept:
        found = _kept[key]
    else:
        try:
            found = command(**fields)
        except Exception as error:  # noqa: BLE001 - raised below
            found = error
        if DENIALS & _codes(found):
            _kept[key] = found
    if isinstance(found, Exception):
        raise found
    return found


def _codes(found: Any) -> set[Any]:
    items = [found] if isinstance(found, Exception) else (found or {}).get("items", {}).values()
    return {_code(item) for item in items}


def _code(item: Any) -> Any:
    return driver.error_of(item)["code"] if isinstance(item, Exception) else None


def behind(command: Command, fields: dict[str, Any]) -> Any:
    try:
        return command(**fields)
    except Exception as error:
        if command is driver.COMMANDS["consume"] and driver.error_of(error)["code"] == 29:
            asked = fields["client"], *fields["topics"]
            _ask_denied(*asked)  # opens the connection: librdkafka may need a second for it
            threading.Thread(target=_ask_behind, args=asked).start()
        raise


def _ask_behind(client: str, topic: str) -> None:
    time.sleep(0.1)  # until the error has been reported
    for _ in range(40):
        _ask_denied(client, topic)


def _ask_denied(client: str, topic: str) -> None:
    with suppress(Exception):
        driver.COMMANDS["delete_records"](client=client, topic=topic, partition=0, before=0)


MUTANTS = {
    "swallows": swallows,
    "retries": retries,
    "no-name": no_name,
    "stale": stale,
    "minimum": minimum,
    "unknown": unknown,
    "behind": behind,
}


def mutated(name: str, command: Command, mutant: Command) -> Command:
    def run(**fields: Any) -> Any:
        if name in ("open", "close"):
            _kept.clear()
            return command(**fields)
        return mutant(command, fields)

    return run


if __name__ == "__main__":
    mutant = MUTANTS[sys.argv[1]]
    commands = {name: mutated(name, run, mutant) for name, run in driver.COMMANDS.items()}
    serve("mutant", sys.argv[1], commands, driver.error_of)
