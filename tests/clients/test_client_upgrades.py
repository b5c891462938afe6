"""A cassette of an earlier version of a client plays with the installed one.

`earlier_clients/` is made by `python -m tests.clients.cassettes --shim --workload aiokafka --keep
DIR` with the earlier version on PYTHONPATH.
"""

import argparse
import shutil
from pathlib import Path

import pytest

from tests.clients.cassettes import WORKLOADS, comparable, play

EARLIER = Path(__file__).parent / "earlier_clients"

pytestmark = [pytest.mark.client, pytest.mark.timeout(300, func_only=True)]


def test_the_next_version_ends_as_the_recorded_one_and_what_changed_is_reported(
    tmp_path: Path,
) -> None:
    trace = Path(shutil.copy(EARLIER / "aiokafka-0.12.ktrace", tmp_path))
    args = argparse.Namespace(match="order", packages=None)
    answers, report = play(WORKLOADS["aiokafka"], args, trace)
    recorded = (EARLIER / "aiokafka-0.12.answers").read_text().splitlines()
    assert answers == [*map(comparable, recorded)]
    assert (report["mismatches"], report["unsent"]) == ([], [])
    assert "Metadata: version 0 -> 5" in report["changes"]
