"""`kafka-shim pipeline` reads the ACLs of a broker and passes them to the job as a file."""

import argparse
import importlib

import pytest

from kafka_shim.cli import main
from kafka_shim.pipeline.acls.acl_set import read_distinct_acls_from_file
from kafka_shim.protocol.api_versions import RELEASES
from tests.cli.conftest import Running

GRANT = ("--add", "--allow-principal", "User:x y", "--operation", "Read", "--topic", 'a "b",c')


@pytest.mark.package_only
def test_a_job_reads_the_acls_of_a_broker(
    broker: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server = ("--bootstrap-server", broker.plaintext)
    assert main(["acls", *server, *GRANT]) == 0
    seen: list[tuple[list[str], str]] = []

    def run(args: argparse.Namespace) -> int:
        texts = [
            f"{acl.principal} {acl.resource_name}"
            for acl in read_distinct_acls_from_file(args.acls)
        ]
        seen.append((texts, args.kafka_version))
        return 3

    monkeypatch.setattr(importlib.import_module("kafka_shim.pipeline.cli"), "run", run)
    assert main(["pipeline", "denials", "trace", *server]) == 3
    assert seen == [(['User:x y a "b",c'], RELEASES[-1])]
    assert main(["pipeline", "denials", "trace", "--bootstrap-server", "127.0.0.1:1"]) == 1
    assert "127.0.0.1:1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--bootstrap-server", "x:1", "--acls", "y"), "not of both"),
        (("--command-config", "x"), "--command-config requires --bootstrap-server"),
    ],
)
def test_incompatible_options_are_rejected(
    options: tuple[str, ...], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["pipeline", "denials", "trace", *options])
    assert problem in capsys.readouterr().err
