"""All scenarios by name, and the recordings of real brokers: one file a release."""

from pathlib import Path

from tests.shim.answers import (
    aborted_scenarios,
    compaction_scenarios,
    duplicate_scenarios,
    fetch_scenarios,
    offset_scenarios,
    produce_scenarios,
    transaction_scenarios,
)
from tests.shim.recordings import Recordings, by_name

SCENARIOS = by_name(
    (
        produce_scenarios,
        duplicate_scenarios,
        fetch_scenarios,
        offset_scenarios,
        transaction_scenarios,
        aborted_scenarios,
        compaction_scenarios,
    )
)

RECORDINGS = Recordings(Path(__file__).parent / "recorded")
releases, load, save = RECORDINGS.releases, RECORDINGS.load, RECORDINGS.save
