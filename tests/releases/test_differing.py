"""The differences between two invented releases, and the checklist."""

import json
from typing import Any

from kafka_shim.schemas.facts import Definition
from tests.releases import checklist
from tests.releases.bytecode import calls_of
from tests.releases.differing import Finding, findings
from tests.releases.snapshot import Snapshot


def field(name: str, versions: str = "0+", kind: str = "int32") -> Definition:
    return {"name": name, "type": kind, "versions": versions}


def request(name: str, versions: str, *fields: Definition, **more: Any) -> Definition:
    return {
        "apiKey": 1,
        "type": "request",
        "listeners": ["broker"],
        "name": f"{name}Request",
        "validVersions": versions,
        "flexibleVersions": "none",
        "fields": list(fields),
        **more,
    }


def release(name: str, *definitions: Definition, **more: Any) -> Snapshot:
    empty: dict[str, Any] = {"codes": {}, "facts": {}, "asked": {}, "methods": {}}
    by_name = {definition["name"]: definition for definition in definitions}
    return Snapshot(release=name, definitions=by_name, **(empty | more))


def found(old: Snapshot, new: Snapshot) -> set[tuple[str, str, str]]:
    return {(row.area, row.subject, row.what) for row in findings(old, new)}


def test_apis_versions_and_fields() -> None:
    old = release("9.0.0", request("Read", "0-1", field("Old")), request("Gone", "0"))
    new = release(
        "9.1.0",
        request("Read", "0-2", field("New"), field("More", "2+", "string")),
        request("Made", "0", field("X")),
        asked={"Made": frozenset({"READ TOPIC"})},
    )
    assert found(old, new) == {
        ("versions", "Read", "0-1 -> 0-2"),
        ("renamed", "ReadRequest", "Old is called New"),
        ("fields", "ReadRequest", "More: string, versions 2+"),
        ("apis", "Made", "new, key 1, versions 0-0; asks READ TOPIC"),
        ("apis", "Gone", "no longer offered"),
        ("permissions", "Made", "+ READ TOPIC"),
    }


def test_versions_that_are_unstable_are_not_offered() -> None:
    old = release("9.0.0", request("Read", "0"))
    new = release("9.1.0", request("Read", "0-1", latestVersionUnstable=True))
    assert found(old, new) == {("versions", "Read", "1 is new and unstable")}


def test_codes_settings_features_and_handlers() -> None:
    def made(code: int, default: str, level: int, *calls: str) -> Snapshot:
        return release(
            "9.0.0",
            codes={"Errors": {"NONE": 0} | ({"NEW": code} if code else {})},
            facts={
                "topic": {"retention.ms": {"type": "long", "default": default}},
                "feature": {"share.version": {"min": 0, "max": level, "level": level}},
            },
            methods={"KafkaApis.handleRead": calls},
        )

    before, after = made(0, "1", 1, "a", "b"), made(7, "2", 2, "b", "a", "Errors.NEW")
    assert found(before, after) == {
        ("error codes", "NEW", "Errors 7"),
        ("settings", "topic retention.ms", "default: 1 -> 2"),
        ("features", "share.version", "0-1, level 1 -> 0-2, level 2"),
        ("handlers", "KafkaApis.handleRead", "+ Errors.NEW"),
    }
    reordered = made(0, "1", 1, "b", "a")
    assert found(before, reordered) == {
        ("handlers", "KafkaApis.handleRead", "the same calls in another order")
    }


LISTING = """\
  public void handleReadRequest(kafka.network.RequestChannel$Request);
    Code:
       1: invokevirtual #1   // Method kafka/server/KafkaApis.authHelper:()Lkafka/server/AuthHelper;
       2: invokevirtual #12  // Method org/apache/kafka/Some.readMore:(I)V
       3: invokestatic  #13  // Method scala/Predef.map:()V
  public static final void $anonfun$handleReadRequest$2(kafka.server.KafkaApis);
    Code:
       4: getstatic     #40  // Field org/apache/kafka/common/protocol/Errors.NONE:Lorg/x;
       5: invokespecial #41  // Method response:()V
"""


def test_calls_of_a_handler_have_those_of_its_lambdas() -> None:
    assert calls_of(LISTING.splitlines()) == {
        "handleReadRequest": ("Errors.NONE", "response", "readMore")
    }


def test_the_checklist_is_written_as_text_and_json() -> None:
    rows = [Finding("apis", "Made", "new")]
    rows += checklist.responses([("9.1.0", ({"Read": 2}, 40)), ("9.1.0-matrix", ({}, 10))])
    text = checklist.as_text("9.0.0", "9.1.0", rows)
    assert "- [ ] Made: new" in text
    assert "- [ ] Read: 2 of the 40 answers in 9.1.0 differ" in text
    areas = json.loads(checklist.as_json("9.0.0", "9.1.0", rows))["areas"]
    assert areas["apis"]["findings"] == [{"area": "apis", "subject": "Made", "what": "new"}]
    assert areas["responses"]["findings"][0]["subject"] == "Read"
