"""Traces as streams: each row comes once, and new rows as they are written."""

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.store import AclStore
from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.policy.formats import format_acls_losslessly
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType
from kafka_shim.protocol.messages.metadata import MetadataResponse, MetadataResponseTopic
from kafka_shim.trace_format.entries import Entry, Request, Response
from tests.pipeline import twin
from tests.pipeline.traces import START_US, TraceMaker, random_acls, random_trace
from tests.support.checked_folders import PIPELINE
from tests.support.commands import SHIM

pytestmark = [PIPELINE, pytest.mark.spark, pytest.mark.timeout(900)]
ROOT = Path(__file__).parents[2]
ACLS = random_acls(random.Random(3), 20)
AUTHORIZER = StandardAuthorizer(store=AclStore(ACLS))
RELEASE = RELEASES[-1]
PATIENCE_S = 400
"""A new Spark session takes 15 s to start, and much longer on a busy machine."""


class KilledError(Exception):
    """Simulates a killed process, which writes no further files."""


@pytest.mark.heavy
def test_the_lake_has_every_row_once(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kafka_shim.pipeline.jobs.ingest import ingest_new_data
    from kafka_shim.pipeline.spark.trace_tables import lake_table
    from kafka_shim.pipeline.trace_input import spark_trace_input

    trace, lake = tmp_path / "trace", tmp_path / "lake"
    rng = random.Random(4)
    random_trace(trace, rng, AUTHORIZER, 200)
    assert ingest_new_data(spark, [str(trace)], lake, RELEASE).segments == 1
    assert ingest_new_data(spark, [str(trace)], lake, RELEASE).files == 0
    random_trace(trace, rng, AUTHORIZER, 300)

    def die(*_: Any) -> None:
        raise KilledError

    real = os.replace
    with monkeypatch.context() as patched:  # all rows are staged, the run is not noted yet
        patched.setattr(os, "replace", die)
        with pytest.raises(PipelineError, match="the stream failed"):
            ingest_new_data(spark, [str(trace)], lake, RELEASE)
    assert lake_table(spark, "accesses", lake).count() == 200
    calls = iter(range(100))

    def die_later(source: Any, target: Any) -> None:
        if next(calls) == 2:
            raise KilledError
        real(source, target)

    with monkeypatch.context() as patched:  # the run is noted, one file is moved
        patched.setattr(os, "replace", die_later)
        with pytest.raises(PipelineError, match="the stream failed"):
            ingest_new_data(spark, [str(trace)], lake, RELEASE)
    done = ingest_new_data(spark, [str(trace)], lake, RELEASE)
    assert (done.recovered, done.segments) == (True, 0)
    assert lake_table(spark, "accesses", lake).count() == len(twin.accesses(trace)) == 500

    def accesses(path: Path) -> list[str]:
        found = spark_trace_input(spark, [str(path)], {}).distinct_accesses()
        return sorted(map(str, found.drop("example").collect()))

    assert accesses(lake) == accesses(trace)


def test_a_stream_has_the_rows_of_the_batch_in_small_steps(spark: Any, tmp_path: Path) -> None:
    from kafka_shim.pipeline.spark.data_source import FORMAT, trace_table
    from kafka_shim.pipeline.spark.run_stream import run_stream

    for seed in range(3):
        random_trace(tmp_path, random.Random(seed), AUTHORIZER, 60)
    columns = "principal string, resource_name string, allowed boolean, sequence long"
    reader = spark.readStream.format(FORMAT).schema(columns).option("maxBytesPerTrigger", "1")
    rows: list[list[str]] = []

    def take(batch: Any, _: int) -> None:
        rows.append([str(row) for row in batch.collect()])

    run_stream(reader.load(str(tmp_path)), take, every=None)
    assert len(rows) == 3  # one segment in each step
    names = ("principal", "resource_name", "allowed", "sequence")
    whole = trace_table(spark, "accesses", [str(tmp_path)], columns=names).collect()
    assert sorted(text for batch in rows for text in batch) == sorted(map(str, whole))
    assert len(whole) == 180


def test_new_denials_are_reported_once(spark: Any, tmp_path: Path) -> None:
    from kafka_shim.pipeline.jobs.watch import NewDenialFinder, report_new_denials

    random_trace(tmp_path, random.Random(5), AUTHORIZER, 300)
    paths = {"paths": json.dumps([str(tmp_path)])}
    told: list[dict[str, Any]] = []
    watcher = NewDenialFinder(None, RELEASE, [], with_listed_accesses=False)
    for _ in range(2):
        report_new_denials(spark, paths, watcher, told.extend, None)
    denied = {twin.key(access) for access in twin.accesses(tmp_path) if not access["allowed"]}
    names = ("principal", "operation", "resource_type", "resource_name")
    assert sorted(tuple(row[name] for name in names) for row in told) == sorted(denied)
    news: list[dict[str, Any]] = []
    watcher = NewDenialFinder(ACLS[5:], RELEASE, None, with_listed_accesses=False)
    report_new_denials(spark, paths, watcher, news.extend, None)
    expected = twin.what_breaks(twin.accesses(tmp_path), ACLS[5:], ())
    lost = {key[1:]: n for key, n in expected.items() if key[0] == "newly denied"}
    assert {tuple(row[name] for name in names): row["requests"] for row in news} == lost
    assert lost


def test_denials_that_arrived_while_nobody_watched_are_reported(spark: Any, tmp_path: Path) -> None:
    """Each run stands for one that was killed: it has only the folder of the last one."""
    from kafka_shim.pipeline.jobs.watch import NewDenialFinder, report_new_denials

    trace, checkpoint = tmp_path / "trace", tmp_path / "checkpoint"
    options = {"paths": json.dumps([str(trace)]), "startingOffsets": "latest"}
    reported: list[list[str]] = []
    for number in range(3):
        maker = TraceMaker(trace, StandardAuthorizer())
        maker.sequence = number
        asked = [(Operation.READ, ResourceType.TOPIC, f"topic-{number}")]
        maker.ask("User:a", "h", ApiKey.FETCH, asked)
        maker.close()
        found: list[dict[str, Any]] = []
        finder = NewDenialFinder(None, RELEASE, [], with_listed_accesses=False)
        report_new_denials(spark, options, finder, found.extend, None, checkpoint=checkpoint)
        reported.append([row["resource_name"] for row in found])
    assert reported == [[], ["topic-1"], ["topic-2"]]


@pytest.mark.heavy
def test_topic_ids_have_their_names_in_a_lake_too(spark: Any, tmp_path: Path) -> None:
    """The response with the name comes after the request with the id, in another segment."""
    from kafka_shim.pipeline.jobs.ingest import ingest_new_data
    from kafka_shim.pipeline.spark.trace_tables import lake_table
    from kafka_shim.pipeline.trace_input import spark_trace_input
    from tests.pipeline.test_derived import ID, fetch, fetched, response_frame, write

    trace, lake = tmp_path / "trace", tmp_path / "lake"
    write(
        trace,
        [
            Request(0, 0, START_US, fetch(ID)),
            Response(0, 0, START_US + 1, ApiKey.FETCH, 13, fetched(known=29)),
        ],
    )
    topics = [MetadataResponseTopic(name="orders", topic_id=ID)]
    named = response_frame(ApiKey.METADATA, 12, MetadataResponse(topics=topics))
    write(trace, [Response(0, 1, START_US + 2, ApiKey.METADATA, 12, named)])
    (row,) = (
        spark_trace_input(spark, [str(trace)], {"release": RELEASE}).distinct_accesses().collect()
    )
    assert (row["resource_name"], row["allowed"], row["source"]) == ("orders", False, "derived")
    ingest_new_data(spark, [str(trace)], lake, RELEASE)
    write(
        trace,
        [
            Request(0, 2, START_US + 3, fetch(ID)),
            Response(0, 2, START_US + 4, ApiKey.FETCH, 13, fetched(known=0)),
            Request(0, 3, START_US + 5, fetch(ID)),  # no response: unknown
        ],
    )
    ingest_new_data(spark, [str(trace)], lake, RELEASE)
    rows = lake_table(spark, "accesses", lake).orderBy("sequence").collect()
    assert [(r["resource_name"], r["allowed"]) for r in rows] == [
        ("orders", False),
        ("orders", True),
        ("orders", None),
    ]
    judged = (
        spark_trace_input(spark, [str(lake)], {"release": RELEASE}).distinct_accesses().collect()
    )
    assert sorted((r["allowed"], r["requests"]) for r in judged) == [(False, 1), (True, 1)]


def test_topic_ids_have_their_names_without_any_job(spark: Any, tmp_path: Path) -> None:
    """Tables have the names, even if the response with the name is in a later segment or batch."""
    from kafka_shim.pipeline.spark.data_source import FORMAT
    from kafka_shim.pipeline.spark.run_stream import run_stream
    from tests.pipeline.test_derived import ID, fetch, fetched, response_frame, write

    use: list[Entry] = [
        Request(0, 0, START_US, fetch(ID)),
        Response(0, 0, START_US + 1, ApiKey.FETCH, 13, fetched(known=29)),
    ]
    topics = [MetadataResponseTopic(name="orders", topic_id=ID)]
    named = response_frame(ApiKey.METADATA, 12, MetadataResponse(topics=topics))
    trace = tmp_path / "trace"
    write(trace, use)
    write(trace, [Response(0, 1, START_US + 2, ApiKey.METADATA, 12, named)])
    write(trace, use)
    for table in ("accesses", "observed"):
        found = spark.read.format(FORMAT).option("table", table).load(str(trace)).collect()
        assert {(row["resource_name"], row["allowed"]) for row in found} == {("orders", False)}
    seen: list[list[str]] = []

    def take(batch: Any, _: int) -> None:
        seen.append([row["resource_name"] for row in batch.collect()])

    stream = spark.readStream.format(FORMAT).schema("resource_name string")
    stream = stream.option("maxBytesPerTrigger", "1").load(str(trace))
    run_stream(stream, take, every=None, checkpoint=tmp_path / "checkpoint")
    assert [names for names in seen if names] == [[""], ["orders"]]
    write(trace, use)
    seen.clear()
    run_stream(stream, take, every=None, checkpoint=tmp_path / "checkpoint")
    assert [names for names in seen if names] == [["orders"]]  # known from an earlier batch


def started(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*SHIM, "pipeline", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        start_new_session=True,  # so that its JVM and workers can be killed too
    )


def kill(child: subprocess.Popen[str]) -> None:
    os.killpg(child.pid, signal.SIGKILL)
    child.communicate(timeout=60)


def wait_for(what: Any, child: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not what():
        assert child.poll() is None, child.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.mark.heavy
@pytest.mark.parametrize("moment", ["begun", "staged", "noted"])
def test_a_killed_run_loses_and_duplicates_no_rows(spark: Any, tmp_path: Path, moment: str) -> None:
    from kafka_shim.pipeline.spark.trace_tables import lake_table

    trace, lake = tmp_path / "trace", tmp_path / "lake"
    random_trace(trace, random.Random(1), AUTHORIZER, 3000)
    signs = {
        "begun": lambda: list(lake.glob("_checkpoint/offsets/0")),
        "staged": lambda: list(lake.glob("_staged/accesses/**/*.parquet")),
        "noted": lambda: list(lake.glob("_runs/00000000*.json")),
    }
    child = started("ingest", str(trace), "-o", str(lake))
    wait_for(signs[moment], child)
    kill(child)
    assert not list(lake.glob("_checkpoint/commits/0"))  # it was killed before the end
    random_trace(trace, random.Random(2), AUTHORIZER, 1000)
    done = started("ingest", str(trace), "-o", str(lake), "--json")
    out, errors = done.communicate(timeout=PATIENCE_S)
    assert done.returncode == 0, errors
    assert json.loads(out)["segments"] == (1 if moment == "noted" else 2)
    columns = ("principal", "host", "operation", "resource_name", "allowed", "rule")
    rows = lake_table(spark, "accesses", lake).select(*columns).collect()
    expected = Counter(
        (
            access["principal"],
            access["host"],
            access["operation"].name,
            access["name"],
            access["allowed"],
            access["rule"],
        )
        for access in twin.accesses(trace)
    )
    assert Counter(map(tuple, rows)) == expected
    assert expected.total() == 4000


@pytest.mark.heavy
def test_following_continues_until_it_is_stopped(spark: Any, tmp_path: Path) -> None:
    from kafka_shim.pipeline.spark.trace_tables import lake_table

    trace, lake = tmp_path / "trace", tmp_path / "lake"
    random_trace(trace, random.Random(1), AUTHORIZER, 100)
    words = ("--follow", "--every", "1 second")
    child = started("ingest", str(trace), "-o", str(lake), *words)
    for number in range(2):
        wait_for(lambda at=number: list(lake.glob(f"_runs/{at:08d}.json")), child)
        random_trace(trace, random.Random(number), AUTHORIZER, 100)
    wait_for(lambda: list(lake.glob("_runs/00000002.json")), child)
    child.send_signal(signal.SIGTERM)
    out, errors = child.communicate(timeout=PATIENCE_S)
    assert child.returncode == 0, errors
    assert "new bytes from 3 segments" in out
    assert "Exception" not in errors  # the current batch is completed
    assert lake_table(spark, "accesses", lake).count() == 300


@pytest.mark.heavy
def test_future_denials_are_reported_while_they_happen(tmp_path: Path) -> None:
    trace, candidate = tmp_path / "trace", tmp_path / "candidate.yaml"
    random_trace(trace, random.Random(1), AUTHORIZER, 50)
    candidate.write_text(format_acls_losslessly(ACLS[5:], "yaml"))
    words = ("--acls", str(candidate), "--from-start", "--every", "1 second", "--json")
    child = started("watch", str(trace), *words)
    assert child.stdout is not None
    told: dict[tuple[str, ...], int] = {}
    names = ("change", "principal", "operation", "resource_type", "resource_name")
    for number in range(2):
        lost = {key for key in broken_by(ACLS[5:], trace) if key[0] == "newly denied"}
        assert lost - told.keys(), number
        while lost - told.keys():
            line = json.loads(child.stdout.readline())
            key = tuple(line[name] for name in names)
            assert key not in told  # reported once
            told[key] = line["requests"]
        random_trace(trace, random.Random(2), AUTHORIZER, 400)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=PATIENCE_S)
    assert child.returncode == 0, errors
    assert "Exception" not in errors


@pytest.mark.heavy
def test_a_killed_watch_misses_no_denial(tmp_path: Path) -> None:
    """It may repeat those of the micro-batch in which it was killed."""
    trace = tmp_path / "trace"
    words = ("watch", str(trace), "--checkpoint", str(tmp_path / "checkpoint"), "--json")

    def deny(number: int) -> None:
        maker = TraceMaker(trace, StandardAuthorizer())
        maker.sequence = number
        asked = [(Operation.READ, ResourceType.TOPIC, f"topic-{number}")]
        maker.ask("User:a", "h", ApiKey.FETCH, asked)
        maker.close()

    deny(0)
    with watching(*words, "--from-start", "--every", "1 second") as (child, names):
        wait_for(lambda: names == ["topic-0"], child)
    deny(1)
    deny(2)
    with watching(*words, "--every", "1 second") as (child, names):  # without the folder: nothing
        wait_for(lambda: {"topic-1", "topic-2"} <= {*names}, child)
        child.send_signal(signal.SIGINT)
        assert child.wait(PATIENCE_S) == 0
    assert {*names} <= {"topic-0", "topic-1", "topic-2"}
    assert len(names) == len({*names})


def broken_by(acls: list[Any], trace: Path) -> dict[tuple[str, ...], int]:
    return twin.what_breaks(twin.accesses(trace), acls, ())


@contextmanager
def watching(*words: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """Start a watch; yield it and the resources that it prints; kill it with its JVM at the end."""
    child = started(*words)
    assert child.stdout is not None
    names: list[str] = []
    lines = child.stdout
    reading = Thread(
        target=lambda: names.extend(json.loads(line)["resource_name"] for line in lines)
    )
    reading.start()
    try:
        yield child, names
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait(PATIENCE_S)
        reading.join()
        for stream in (child.stdout, child.stderr):
            assert stream is not None
            stream.close()


@pytest.mark.heavy
def test_very_many_accesses_of_one_principal_fit_into_memory(spark: Any) -> None:
    """Spark counts them, and spills to disk; the JVM has its default of 1 GiB."""
    import pyarrow as pa

    from benchmarks.pipeline.data import DENIED_EVERY, access_rows, random_acls as many_acls
    from kafka_shim.pipeline.acls.acl_set import AclSet
    from kafka_shim.pipeline.engines.duckdb_engine import DuckDbEngine
    from kafka_shim.pipeline.engines.spark_engine import SparkEngine
    from kafka_shim.pipeline.jobs.least_acls import least_acls
    from kafka_shim.pipeline.jobs.what_breaks import what_breaks
    from kafka_shim.pipeline.observation import sum_equal_accesses
    from kafka_shim.pipeline.tables import OBSERVED, spark_ddl

    count, acls = 200_000, 2000

    def rows(source: Any) -> Any:
        for batch in source:
            made = access_rows(batch.column(0).to_pylist(), names=count)
            principals = pa.array(["User:u1"] * made.num_rows, pa.string())
            at = OBSERVED.get_field_index("principal")
            yield made.set_column(at, OBSERVED.field(at), principals)

    observed = spark.range(0, count, 1, 8).mapInArrow(rows, spark_ddl(OBSERVED))
    reader, engine = SparkEngine(spark), DuckDbEngine()
    accesses = engine.create_batches_table(reader.batches(sum_equal_accesses(reader, observed)))
    allowed = count - count // DENIED_EVERY
    nobody = what_breaks(engine, accesses, AclSet(()))
    assert engine.count_rows(nobody) == allowed
    some = what_breaks(engine, accesses, AclSet(tuple(many_acls(acls))))
    assert 0 < engine.count_rows(some) < allowed
    least = engine.rows(least_acls(engine, accesses))
    assert sum(row["requests"] for row in least) == allowed
    reader.release()
