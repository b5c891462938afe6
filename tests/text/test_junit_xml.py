"""JUnit XML is well-formed for every text, and counts its cases."""

from xml.etree import ElementTree as ET

import pytest

from kafka_shim.text.junit_xml import JunitCase, junit_report

CASES = (
    JunitCase(classname="acls", name="holds", file="acls.yaml", line=3),
    JunitCase(classname="acls", name="fails", failure="denied", output="by <no> ACL & none"),
    JunitCase(classname="acls", name="waits", skipped="not exercised"),
    JunitCase(classname="acls", name="prints", output="should: be faster", seconds=0.5),
)


def test_cases_are_counted_by_their_result() -> None:
    suite = ET.fromstring(junit_report("client", CASES))
    assert suite.attrib == {
        "name": "client", "tests": "4", "failures": "1", "errors": "0", "skipped": "1",
    }  # fmt: skip
    holds, fails, waits, prints = suite
    assert holds.attrib == {
        "classname": "acls", "name": "holds", "file": "acls.yaml", "line": "3",
    }  # fmt: skip
    assert not list(holds)
    assert [(each.tag, each.get("message"), each.text) for each in fails] == [
        ("failure", "denied", "by <no> ACL & none")
    ]
    assert [(each.tag, each.get("message")) for each in waits] == [("skipped", "not exercised")]
    assert [(each.tag, each.text) for each in prints] == [("system-out", "should: be faster")]
    assert prints.get("time") == "0.500"


@pytest.mark.parametrize("letter", ["\x00", "\x1b", "\ud800", "\ufffe"])
def test_characters_that_xml_forbids_are_replaced(letter: str) -> None:
    text = f"a{letter}b"
    case = JunitCase(classname=text, name=text, failure=text, output=text)
    suite = ET.fromstring(junit_report(text, [case]))
    assert (suite.get("name"), suite[0].get("name")) == ("a?b", "a?b")
    assert suite[0][0].text == "a?b"
