"""Write config_definitions.json: the settings of all releases, from what their jars say of them.

`python -m kafka_shim.shim.state.settings.generate_definitions` rewrites it; `--check` exits
1 if it is stale.
"""

import argparse
import re
import sys
from pathlib import Path
from typing import Any

from kafka_shim.schemas.releases import Fact, Facts, History, render_history, settings

TABLE = Path(__file__).with_name("config_definitions.json")
COMMAND = "python -m kafka_shim.shim.state.settings.generate_definitions"

CHECKS: dict[str, dict[str, Any]] = {
    "[partitionId],[brokerId]:[partitionId],[brokerId]:...": {"replicas": True},
    "[partitionId]:[brokerId],[partitionId]:[brokerId],...": {"replicas": True},
    "ApiVersionValidator": {"release": True},
    "MetadataVersionValidator": {"release": True},
    "non-empty string": {"filled": True},
    "non-null string": {},  # null is no value of a setting on the wire
    "non-empty list": {},  # of a controller's addresses, whose default is empty all the same
    "ConfigDef$LambdaValidator": {},  # 3.9: of two pools' sizes, -1 or a number of threads
}
"""Checks of what validators say that is neither a range nor a list of values."""

NOT_CHECKED = frozenset({"config.providers"})
"""Brokers use up these settings before they check values: 4.4.0 takes anything."""

_RANGE = re.compile(
    r"\[(?P<min>[-\d.]+|\.\.\.)(,\.\.\.)?(,(?P<max>[-\d.]+))?\]( or (?P<or>-?\d+))?"
)
_MEMBERS = re.compile(r"(?P<case>\(case insensitive\) )?\[(?P<members>[^][]+)\]")
_LIST = re.compile(r"(?P<inner>.*?) ?distinct(?P<filled>, not empty)?")
_DURATION = "by_duration:PnDTnHnMn.nS"


def check_of_validator(validator_text: str, kind: str) -> dict[str, Any]:
    """Return the check that a validator of a setting of this type says. Raise ValueError if
    unknown.
    """
    if validator_text in CHECKS:
        return CHECKS[validator_text]
    if (match := _LIST.fullmatch(validator_text)) is not None:
        inner = check_of_validator(match["inner"], kind) if match["inner"] else {}
        return inner | {"distinct": True} | ({"filled": True} if match["filled"] else {})
    if (match := _RANGE.fullmatch(validator_text)) is not None:
        bounds = {key: match[key] for key in ("min", "max", "or")}
        return {
            key: _parse_number(text) for key, text in bounds.items() if text not in (None, "...")
        }
    if (match := _MEMBERS.fullmatch(validator_text)) is not None:
        members = match["members"].split(", ")
        check = {"each_of" if kind == "list" else "one_of": [m for m in members if m != _DURATION]}
        flags = {"durations": _DURATION in members, "ignore_case": match["case"] is not None}
        return check | {flag: True for flag, is_set in flags.items() if is_set}
    raise ValueError(f"the validator `{validator_text}` has no check yet")


def definition_row(name: str, fact: Fact) -> Fact:
    """Return a row of the table for what the jars say of a setting."""
    row: Fact = {key: fact[key] for key in ("type", "default") if key in fact}
    if "valid" in fact and name not in NOT_CHECKED:
        check = check_of_validator(fact["valid"], fact["type"])
        row |= {"check": check} if check else {}
    return row | {key: fact[key] for key in ("dynamic", "internal", "broker") if key in fact}


def definition_table(facts: Facts) -> Facts:
    """Return the table; a broker's setting that it does not have stands in for nothing."""
    known = facts["broker"]
    return {
        kind: {
            name: _history_without_repeats(name, history, known)
            for name, history in histories.items()
        }
        for kind, histories in facts.items()
    }


def _history_without_repeats(
    name: str, history: History, broker_histories: dict[str, History]
) -> History:
    changes: History = {}
    before = None
    for since, fact in history.items():
        row = None if fact is None else definition_row(name, fact)
        if row is not None and row.get("broker") not in broker_histories:
            row.pop("broker", None)
        if row != before:
            changes[since] = row
        before = row
    return changes


def _parse_number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare, change nothing")
    wanted = render_history(definition_table(settings()))
    if not parser.parse_args(arguments).check:
        TABLE.write_text(wanted)
        return 0
    if TABLE.read_text() == wanted:
        return 0
    command = "python -m kafka_shim.shim.state.settings.generate_definitions"
    sys.stderr.write(f"{TABLE.name} is out of date: run {command}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
