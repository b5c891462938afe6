"""Drivers that violate the contract, end, or do not answer."""

import asyncio
import os
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import chain, repeat
from pathlib import Path

import pytest

from kafka_shim.client.client import ClientError
from kafka_shim.conformance.case import CaseOutcome, CaseResult
from kafka_shim.conformance.cases import all_cases
from kafka_shim.conformance.cluster import ShimCluster
from kafka_shim.conformance.driver import Driver, DriverTimeoutError, processor_wait_s
from kafka_shim.conformance.fixtures import ClusterSetup, ShimClusterProvider
from kafka_shim.conformance.report import as_text, report_from_results
from kafka_shim.conformance.runner import run_cases, select_cases
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.shim.errors import ConfigError

HELLO = """\
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    answer = {"ok": {"name": "toy", "version": "1", "commands": ["delete_topics"]}}
    if asked["command"] != "hello":
        answer = %s
    print(json.dumps({"id": asked["id"], **answer}), flush=True)
"""


HELLO_2 = """\
print('{"id": 1, "ok": {"name": "toy", "version": "1", "contract": 2, "commands": []}}')
"""


def toy(folder: Path, response: str) -> list[str]:
    program = folder / "toy.py"
    program.write_text(HELLO % response)
    return [sys.executable, str(program)]


def results(words: Sequence[str], *patterns: str) -> list[CaseResult]:
    found: list[CaseResult] = []
    asyncio.run(run_cases(words, select_cases(all_cases(), patterns), RELEASES[-1], found.append))
    return found


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("print('hello', flush=True)", "not JSON"),
        ("print('{\"id\": 7}', flush=True)", "another command"),
        ("print('{\"id\": 1}', flush=True)", "neither ok nor error"),
        ('print(\'{"id": 1, "ok": {}}\', flush=True)', "wrongly: ok.name is missing"),
        (HELLO_2, "implements version 2 of the contract, not 1"),
        ("", "ended before it answered `hello`"),
    ],
)
def test_a_program_that_is_not_a_driver_is_rejected(program: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        results([sys.executable, "-c", program], "denials.delete-topic.reports-error")


def test_a_missing_program_is_reported() -> None:
    with pytest.raises(ConfigError, match="cannot start `no-such-program`"):
        results(["no-such-program"], "denials.delete-topic.reports-error")


def test_a_driver_that_ends_during_a_case_fails_it_and_is_restarted(tmp_path: Path) -> None:
    ends = '{"ok": {}} if asked["command"] in ("open", "close") else sys.exit()'
    found = results(toy(tmp_path, ends), "denials.delete-topic.*")
    assert [result.outcome for result in found] == [CaseOutcome.FAILED] * 3
    assert found[0].observed == "the driver ended before it answered `delete_topics`"


def test_commands_that_a_driver_does_not_list_are_unsupported(tmp_path: Path) -> None:
    (found,) = results(toy(tmp_path, '{"ok": {}}'), "denials.delete-records.reports-error")
    assert found.outcome is CaseOutcome.UNSUPPORTED
    assert not found.fails_run
    assert found.observed == "command `delete_records`"


def test_unsupported_cases_name_the_missing_capability(tmp_path: Path) -> None:
    (tmp_path / "toy.py").write_text((HELLO % '{"unsupported": True}').replace("topics", "records"))
    words = [sys.executable, str(tmp_path / "toy.py")]
    text = as_text(report_from_results("toy", results(words, "denials.delete-*.reports-error")))
    assert "  `open` with the fields of this case: denials.delete-records.reports-error\n" in text
    assert "  command `delete_topics`: denials.delete-topic.reports-error\n" in text


def test_an_answer_with_a_missing_item_fails_the_case(tmp_path: Path) -> None:
    found, *_ = results(toy(tmp_path, '{"ok": {"items": {}}}'), "denials.delete-topic.*")
    assert found.observed == "the driver answered nothing for denied"


async def _silent() -> None:
    words = [sys.executable, "-c", "input(); input()"]
    process = await asyncio.create_subprocess_exec(
        *words, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    driver = Driver(process)
    try:
        await driver.run_command("hello", seconds=0.01)
    finally:
        await driver.stop()


def test_waiting_for_an_answer_is_limited() -> None:
    with pytest.raises(DriverTimeoutError, match="no answer to `hello`"):
        asyncio.run(_silent())


def test_answers_of_a_driver_are_shortened_in_the_report(tmp_path: Path) -> None:
    response = '{"ok": {"items": {"denied": {"text": "x" * 1000000}, "allowed": {}}}}'
    found, *_ = results(toy(tmp_path, response), "denials.delete-topic.reports-error")
    assert len(found.last_response) < 1000
    assert len(found.observed) < 1000


class SilentCluster(ShimClusterProvider):
    """A cluster that does not answer the suite the first `times` times."""

    def __init__(self, release: str, times: int) -> None:
        super().__init__(release)
        self._times = times

    async def provide_empty_cluster(self, setup: ClusterSetup, title: str) -> ShimCluster:
        if self._times:
            self._times -= 1
            raise ClientError("no answer")
        return await super().provide_empty_cluster(setup, title)


@pytest.mark.parametrize(
    ("times", "outcomes"),
    [
        (1, {CaseOutcome.FAILED: 2}),
        (2, {CaseOutcome.NOT_EXERCISED: 1, CaseOutcome.FAILED: 1}),
    ],
)
def test_a_slow_answer_of_the_cluster_does_not_end_the_run(
    tmp_path: Path, times: int, outcomes: dict[CaseOutcome, int]
) -> None:
    found: list[CaseResult] = []
    cases = select_cases(all_cases(), ["denials.delete-topic.*"])[:2]
    silent = partial(SilentCluster, RELEASES[-1], times)
    words = toy(tmp_path, '{"error": {"class": "E", "code": 7, "text": "x"}}')
    asyncio.run(run_cases(words, cases, RELEASES[-1], found.append, clusters=silent))
    assert Counter(result.outcome for result in found) == outcomes


async def wait_for_slow_answer(program: Path, seconds: float) -> None:
    driver = await Driver.start(
        toy(program, '__import__("time").sleep(0.5) or {"ok": {"items": {}}}')
    )
    try:
        await driver.run_command("delete_topics", {}, seconds=seconds)
    finally:
        await driver.stop()


def test_time_in_which_no_processor_was_free_does_not_count(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    waits = chain([0.0], repeat(60.0))
    monkeypatch.setattr(Driver, "_processor_wait_s", lambda _: next(waits))
    asyncio.run(wait_for_slow_answer(tmp_path, 0.1))


def test_an_idle_driver_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Driver, "_processor_wait_s", lambda _: 0.0)
    with pytest.raises(DriverTimeoutError, match="no answer to `delete_topics`"):
        asyncio.run(wait_for_slow_answer(tmp_path, 0.1))


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_process_waits_for_a_processor_while_others_run() -> None:
    """Two busy processes on one processor: each waits while the other runs."""
    processor = min(os.sched_getaffinity(0))
    busy = f"import os; os.sched_setaffinity(0, {{{processor}}})\nwhile True: pass"
    processes = [subprocess.Popen([sys.executable, "-c", busy]) for _ in range(2)]
    try:
        deadline = time.monotonic() + 30
        while min(processor_wait_s(each.pid) for each in processes) < 0.1:
            assert time.monotonic() < deadline
            time.sleep(0.05)
    finally:
        for each in processes:
            each.kill()
            each.wait()


def test_an_ended_process_does_not_wait() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert processor_wait_s(process.pid) == 0


def test_a_client_of_an_earlier_case_does_not_reach_the_next_one() -> None:
    """sarama leaves such a client, which asks for metadata each second, if InitProducerId fails."""

    async def check() -> None:
        provider = ShimClusterProvider(RELEASES[-1])
        addresses: list[tuple[str, int]] = []
        try:
            for title in ("first", "second"):
                cluster = await provider.provide_empty_cluster(ClusterSetup(brokers=2), title)
                for text in cluster.bootstrap_servers("PLAINTEXT").split(","):
                    host, _, port = text.rpartition(":")
                    addresses.append((host, int(port)))
            assert len(set(addresses)) == 4
            for earlier, current in zip(addresses[:2], addresses[2:], strict=True):
                socket.create_connection(current, 5).close()
                with pytest.raises(ConnectionRefusedError):
                    socket.create_connection(earlier, 5)
        finally:
            await provider.close()

    asyncio.run(check())
