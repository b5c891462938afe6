"""A killed `kafka-shim proxy` leaves a readable trace."""

import random
import subprocess
from pathlib import Path

import pytest

from kafka_shim.trace_format.entries import Request, Response
from tests.cli.conftest import Running
from tests.shim.observing.test_recorder import ask_until_killed, entries
from tests.support.commands import SHIM, environment


@pytest.mark.parametrize("seed", range(2))
def test_a_killed_proxy_leaves_a_trace_that_can_be_read(
    seed: int, tmp_path: Path, broker: Running
) -> None:
    command = [*SHIM, "proxy", "--upstream", broker.plaintext]
    command += ["--record", str(tmp_path), "--record-compression", "zlib", "--listener", "IN"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment()
    ) as child:
        assert child.stdout is not None
        said = child.stdout.readline().decode()
        port = int(said.partition(" on ")[2].partition(",")[0].rpartition(":")[2])
        ask_until_killed(port, random.Random(seed).uniform(0.3, 0.8), child)
    found, damage = entries(tmp_path)
    assert all(part.is_tail for part in damage)
    requests = [entry.sequence for _, entry in found if isinstance(entry, Request)]
    responses = [entry.sequence for _, entry in found if isinstance(entry, Response)]
    assert len(responses) > 0
    assert requests == list(range(len(requests)))
    assert responses == requests[: len(responses)]
    assert {who.listener for who, _ in found} == {"IN"}
