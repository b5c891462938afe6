"""`kafka-shim vectors`: run, list and show."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_shim.cli import main
from kafka_shim.testing.broker_start import start
from tests.cli.tested_command import finished
from tests.docs.shown import ROOT

MATRIX = ROOT / "vectors" / "4.4.0" / "access-matrix.json"
SOME = ["--id", "4.4.0/access-matrix/m1*/*"]
WHO = ("admin", "alice", "bob", "carol")


def vectors(*words: str) -> "subprocess.CompletedProcess[str]":
    return finished(main, ["vectors", *words])


@pytest.fixture(scope="module")
def addresses() -> Iterator[list[str]]:
    settings = json.loads(MATRIX.read_bytes())["broker"]["settings"]
    users = {name: f"{name}-secret" for name in WHO}
    with start(users=users, properties=settings) as broker:
        yield [
            "--bootstrap-server",
            broker.bootstrap_servers,
            "--sasl-server",
            broker.listeners["SASL_PLAINTEXT"],
        ]


def test_a_broker_that_answers_as_real_ones_is_equal(addresses: list[str]) -> None:
    done = vectors("run", str(MATRIX), *addresses, *SOME)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert "0 different, 0 not served, 0 not set up" in done.stdout


def test_what_differs_is_printed_with_the_reason(tmp_path: Path, addresses: list[str]) -> None:
    text = MATRIX.read_text(encoding="utf-8")
    wrong = tmp_path / "wrong.json"
    wrong.write_text(text.replace('"errorCode":29', '"errorCode":3'), encoding="utf-8")
    done = vectors("run", str(wrong), *addresses, *SOME, "--format", "json")
    assert done.returncode == 3
    report = json.loads(done.stdout)
    assert report["totals"]["different"] > 0
    mistakes = [each["mistake"] for each in report["responseMistakes"]]
    expected = "TOPIC_AUTHORIZATION_FAILED (29) instead of UNKNOWN_TOPIC_OR_PARTITION (3)"
    assert f"Metadata returns {expected}" in mistakes
    assert "errorCode: 29, expected 3" in report["results"][0]["reason"]
    junit = vectors("run", str(wrong), *addresses, *SOME, "--format", "junit")
    assert f'failures="{report["totals"]["different"]}"' in junit.stdout
    text = vectors("run", str(wrong), *addresses, *SOME).stdout
    assert "errorCode: 29, expected 3" in text


def test_a_broker_on_which_nothing_can_be_compared_has_not_passed() -> None:
    with start() as broker:  # without the users of the vectors
        address = broker.listeners["SASL_PLAINTEXT"]
        done = vectors("run", str(MATRIX), "--bootstrap-server", address, "--id", "*/m17/*")
    assert "0 equal, 0 different" in done.stdout, done.stderr
    assert done.returncode == 3


def test_settings_that_differ_from_the_file_are_named() -> None:
    users = {name: f"{name}-secret" for name in WHO}
    with start(users=users) as broker:
        done = vectors(
            "run",
            str(MATRIX),
            "--bootstrap-server",
            broker.bootstrap_servers,
            "--sasl-server",
            broker.listeners["SASL_PLAINTEXT"],
            *("--id", "*/m194/*"),
        )
    assert done.returncode == 3, done.stderr
    assert "the broker has group.share.assignment.interval.ms=1000, expected 0" in done.stdout
    assert (
        "ShareGroupDescribe returns no error instead of TOPIC_AUTHORIZATION_FAILED" in done.stdout
    )


def test_vectors_that_are_not_set_up_fail(addresses: list[str], tmp_path: Path) -> None:
    content = json.loads(MATRIX.read_bytes())
    content["groups"] = content["groups"][:2]
    content["groups"][0]["given"]["acls"][0]["principal"] = "nobody"
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps(content), encoding="utf-8")
    done = vectors("run", str(wrong), *addresses)
    assert done.returncode == 3, done.stderr
    assert "0 different, 0 not served, 1 not set up" in done.stdout
    junit = vectors("run", str(wrong), *addresses, "--format", "junit").stdout
    assert 'failures="1"' in junit


def test_a_broker_that_is_not_there_is_reported() -> None:
    done = vectors("run", str(MATRIX), "--bootstrap-server", "127.0.0.1:1", *SOME)
    assert done.returncode == 1
    assert "127.0.0.1:1: " in done.stderr


def test_vectors_are_listed_by_api_and_error() -> None:
    lines = vectors("list", str(MATRIX), "--api", "Metadata", "--error", "29").stdout.splitlines()
    assert lines
    assert all("  Metadata v13  29" in line for line in lines)


def test_listed_vectors_are_json_as_in_their_file() -> None:
    listed = json.loads(vectors("list", str(MATRIX), "--api", "Metadata", "--json").stdout)
    stored = [
        each for group in json.loads(MATRIX.read_text())["groups"] for each in group["vectors"]
    ]
    assert listed == [each for each in stored if each["when"]["api"] == "Metadata"]
    assert listed


def test_a_vector_is_shown_in_words() -> None:
    text = vectors("show", str(MATRIX), "--id", "4.4.0/access-matrix/m12/1").stdout
    assert "given Kafka 4.4.0, topics m12-topic, m12-topic2" in text
    assert "DENY DESCRIBE on LITERAL TOPIC `*` for User:bob from *" in text
    assert "then TOPIC_AUTHORIZATION_FAILED (29)" in text
    assert "why Metadata.topic: DESCRIBE on TOPIC" in text


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["nowhere.json"], "cannot read `nowhere.json`"),
        ([str(ROOT / "vectors" / "README.md")], "is not a file of vectors"),
        ([str(ROOT / "docs" / "explanation" / "decisions")], "has no files of vectors"),
        ([str(MATRIX), "--id", "nothing"], "match nothing"),
    ],
)
def test_a_wrong_file_is_a_usage_error(words: list[str], reason: str) -> None:
    done = vectors("list", *words)
    assert done.returncode == 2
    assert reason in done.stderr
