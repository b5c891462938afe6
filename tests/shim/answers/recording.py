"""All scenarios by name, and the recordings of real brokers: one file a release."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from tests.shim.answers import (
    fetch_scenarios,
    offset_scenarios,
    produce_scenarios,
    transaction_scenarios,
)
from tests.shim.answers.play import Play

FOLDER = Path(__file__).parent / "recorded"
Steps = list[tuple[str, Any]]

SCENARIOS: dict[str, Callable[[Play], None]] = {
    f"{area.__name__.rpartition('.')[2].removesuffix('_scenarios')}-{scenario.__name__}": scenario
    for area in (produce_scenarios, fetch_scenarios, offset_scenarios, transaction_scenarios)
    for scenario in area.SCENARIOS
}


def releases() -> list[str]:
    """The releases that were recorded: `4.3.1`."""
    return sorted(path.name.removesuffix(".json.gz") for path in FOLDER.glob("*.json.gz"))


def load(release: str) -> dict[str, Steps]:
    path = FOLDER / f"{release}.json.gz"
    return msgspec.json.decode(gzip.decompress(path.read_bytes()), type=dict[str, Steps])


def save(release: str, answers: dict[str, Steps]) -> None:
    """The same answers give the same bytes."""
    FOLDER.mkdir(exist_ok=True)
    text = msgspec.json.format(msgspec.json.encode(answers), indent=0)
    (FOLDER / f"{release}.json.gz").write_bytes(gzip.compress(text, 9, mtime=0))
