"""The least ACLs and remedies do not allow more than was observed without saying so."""

import json
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.store import AclStore
from kafka_shim.cli import main
from kafka_shim.client.client import connect
from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.pipeline.jobs import import_job
from kafka_shim.pipeline.option_checks import validated_reader_options
from kafka_shim.pipeline.rows.trace_release import releases_of_segments
from kafka_shim.protocol.api_versions import advertised_versions
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, ResourceType
from kafka_shim.testing import start
from tests.docs.shown import ROOT
from tests.pipeline.asking import parsed
from tests.pipeline.traces import TraceMaker
from tests.support.acls import make_acl

ALL_GROUPS = make_acl(Operation.READ, "*", resource_type=ResourceType.GROUP)


def trace_of_starred_group(folder: Path, *acls: Any) -> str:
    maker = TraceMaker(folder, StandardAuthorizer(store=AclStore(acls)))
    for name in ("*", "", "billing"):
        asked = [(Operation.READ, ResourceType.GROUP, name)]
        maker.ask("User:alice", "h", ApiKey.JOIN_GROUP, asked)
    maker.close()
    return str(folder)


def test_a_group_with_a_name_that_no_acl_has_gets_none(tmp_path: Path, capsys: Any) -> None:
    trace = trace_of_starred_group(tmp_path / "trace", ALL_GROUPS)
    assert main(["pipeline", "least-acls", trace, "--json"]) == 0
    output = capsys.readouterr()
    rows = [row["acl"] for row in json.loads(output.out)["rows"]]
    assert rows == ["GROUP|billing|LITERAL|User:alice|*|READ|ALLOW"]
    assert main(["pipeline", "least-acls", trace]) == 0
    printed = capsys.readouterr().out
    assert "no ACL: User:alice used READ on the GROUP named `*`" in printed
    assert "no ACL: User:alice used READ on the GROUP with an empty name" in printed


def test_the_remedy_for_a_group_named_star_is_not_all_groups(tmp_path: Path, capsys: Any) -> None:
    trace = trace_of_starred_group(tmp_path / "trace")
    assert main(["pipeline", "denials", trace, "--json"]) == 0
    rows = {row["resource_name"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert rows["billing"]["remedy"].endswith("group: billing}")
    assert rows["*"]["remedy"] == rows[""]["remedy"] == ""
    assert "an ACL cannot have an empty name" in rows[""]["not_known"]
    assert "allows all resources" in rows["*"]["not_known"]


def test_prefixes_are_said_to_allow_more(tmp_path: Path, capsys: Any) -> None:
    acls = [make_acl(Operation.READ, "log-", pattern_type=PatternType.PREFIXED)]
    maker = TraceMaker(tmp_path / "trace", StandardAuthorizer(store=AclStore(acls)))
    for name in ("log-1", "log-2"):
        maker.ask("User:alice", "h", ApiKey.FETCH, [(Operation.READ, ResourceType.TOPIC, name)])
    maker.close()
    assert main(["pipeline", "least-acls", str(tmp_path / "trace"), "--over-grant", "0"]) == 0
    assert "1 prefixed ACL also allow names that nobody has used yet" in capsys.readouterr().out


def test_a_trace_knows_the_release_of_its_broker(tmp_path: Path) -> None:
    for release in ("3.9", "4.4"):
        folder = tmp_path / release
        with start(kafka_version=release, record=folder, in_process=False) as broker:
            connect(broker.bootstrap_servers).close()
        args = parsed("denials", str(folder))
        assert validated_reader_options(args, import_job("denials"))["release"] == release
    args = parsed("denials", str(tmp_path / "3.9"), str(tmp_path / "4.4"))
    with pytest.raises(PipelineError, match=r"of Kafka 3\.9 and 4\.4; choose one"):
        validated_reader_options(args, import_job("denials"))


@pytest.mark.parametrize(
    "trace",
    sorted((ROOT / "tests/traces/cassettes/recorded").rglob("*.ktrace")),
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_a_trace_of_a_proxy_shows_the_release_of_the_real_broker(trace: Path) -> None:
    """The versions of some releases are equal; then it is the newest of them."""
    release = trace.parent.name.rpartition(".")[0]
    found = releases_of_segments([trace])
    if not found:
        pytest.skip("the client sends no ApiVersions")
    (shown,) = found
    assert advertised_versions(shown) == advertised_versions(release)
