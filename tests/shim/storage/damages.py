"""Damages of the files of a killed broker: is everything there, or does the broker say it is not?

Three brokers in their own processes acknowledge what a client sends, and are killed. Their
directories are copied, and one file of each copy is damaged.
"""

import itertools
import os
import shutil
import urllib.request
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.storage import database
from tests.shim.storage.acknowledged import (
    STATES,
    VERSIONS,
    WORK,
    WORK_WITH_STATES,
    Life,
    Peer,
    start_broker,
    what_is_missing,
)
from tests.shim.storage.kept import KeptStage

FILES = ("kafka-shim.db", "kafka-shim.db-wal", "kafka-shim.db-shm", "kafka-shim.journal", "lock")
KINDS = ("first session", "later session", "after compaction")
REFUSED, WARNED, WHOLE, SILENT = OUTCOMES = ("refused", "warned", "whole", "silently lost")
SIZES = (0, 1, 20, 40, 600, 4096, 8192)
"""Files are truncated to these sizes, to half, and by one byte."""
POSITIONS = (0, 3, 17, 24, 33, 41, 100, 311, 599, 4100)
"""A byte at these positions is changed, at five parts of the file, and at the end."""
CYCLES = 4


def make_directory(folder: Path, kind: str) -> Life:
    """Write `folder/killed`, which a killed broker left, and older copies of its files.

    Return what was acknowledged. `folder/older` is a copy during the last session, `folder/clean`
    one between sessions.
    """
    life, numbers = Life(), itertools.count()
    sessions = 1 if kind == KINDS[0] else 2
    for session in range(sessions):
        child, addresses = start_broker(folder, "--control", "127.0.0.1:0")
        peer = Peer(addresses["PLAINTEXT"])
        try:
            _work(peer, life, numbers, compacts=kind == KINDS[2], control=addresses["CONTROL"])
            if session < sessions - 1:
                child.terminate()
                assert child.wait(20) == 0
                shutil.copytree(folder / "data", folder / "clean")
                continue
            shutil.copytree(folder / "data", folder / "older")
            life.send_all(peer, [(work, next(numbers)) for work in WORK])
            life.send_all(peer, [(WORK[0], next(numbers))])  # which the journal has
        finally:
            peer.close()
            child.kill()
            child.wait(20)
    shutil.move(folder / "data", folder / "killed")
    assert all((folder / "killed" / name).exists() for name in FILES)
    return life


def _work(peer: Peer, life: Life, numbers: Iterator[int], *, compacts: bool, control: str) -> None:
    if not compacts:
        life.send_all(peer, [(work, next(numbers)) for work in WORK * CYCLES])
        return
    policy = CreatableTopicConfig("cleanup.policy", "compact")
    topic = CreatableTopic(STATES, num_partitions=1, replication_factor=1, configs=[policy])
    peer.ask(ApiKey.CREATE_TOPICS, CreateTopicsRequest([topic], timeout_ms=1000))
    life.send_all(peer, [(work, next(numbers)) for work in WORK_WITH_STATES * CYCLES])
    request = urllib.request.Request(f"http://{control}/topics/{STATES}/compact", method="POST")
    with urllib.request.urlopen(request) as response:
        assert response.status == 200


def damages_of_file(folder: Path, name: str) -> Iterator[tuple[str, Callable[[Path], None]]]:
    """Yield each damage of a file: its name, and a function that does it to a copy."""
    size = (folder / "killed" / name).stat().st_size
    yield "missing", Path.unlink
    for length in sorted({each for each in (*SIZES, size // 2, size - 1) if each < size}):
        yield f"truncated to {length} of {size}", partial(os.truncate, length=length)
    places = {*POSITIONS, *(size * part // 6 for part in range(1, 6)), size - 1}
    for place in sorted(each for each in places if each < size):
        yield f"byte {place} of {size} changed", partial(_change_byte, place=place)
    for copy in ("older", "clean"):
        if (folder / copy / name).exists():
            yield f"{copy} copy", partial(shutil.copyfile, folder / copy / name)


def _change_byte(path: Path, place: int) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 1 << place % 8
    path.write_bytes(content)


def outcome_of_start(directory: Path, before: Life) -> str:
    """Start a broker in this process; return one of OUTCOMES."""
    with mock.patch.object(database, "log") as log:
        try:
            stage = KeptStage(directory, super_users=("User:admin",))
        except ConfigError:
            return REFUSED

    def ask(api: ApiKey, message: Any) -> Any:
        return stage.ask(api, VERSIONS[api], message)

    try:
        if log.warning.called:
            return WARNED
        return SILENT if what_is_missing(ask, before) else WHOLE
    finally:
        stage.kill()


def try_damages(folder: Path, name: str, before: Life) -> Iterator[tuple[str, str]]:
    """Yield each damage of a file of the directory, and its outcome.

    A directory that was refused is refused again: the first start changed nothing that matters.
    """
    for damage, apply in damages_of_file(folder, name):
        copy = folder / "copy"
        shutil.copytree(folder / "killed", copy)
        apply(copy / name)
        outcome = outcome_of_start(copy, before)
        if outcome == REFUSED and outcome_of_start(copy, before) != REFUSED:
            outcome = SILENT
        yield damage, outcome
        shutil.rmtree(copy)
