"""Figures that pages repeat are those of the page that measures them."""

import re

import pytest

from tests.docs.shown import ROOT

REPORTS = ROOT / "docs" / "reference" / "conformance" / "README.md"
RELEASES = ROOT / "docs" / "reference" / "releases.md"
CLIENT = re.compile(r"^\| ([a-z-]+) (\d[\d.]*) \| \d+ / ", re.MULTILINE)


@pytest.mark.parametrize("name", ["packages/go/README.md", "docs/start/connect.md"])
def test_tested_go_clients_have_the_versions_of_their_reports(name: str) -> None:
    versions = dict(CLIENT.findall(REPORTS.read_text()))
    told = re.findall(r"\b(sarama|franz-go|kafka-go) (\d[\d.]*\d)", (ROOT / name).read_text())
    assert told == [(client, versions[client]) for client in ("sarama", "franz-go", "kafka-go")]


@pytest.mark.parametrize("name", ["README.md", "docs/explanation/tested.md"])
def test_the_number_of_recorded_responses_is_that_of_the_releases(name: str) -> None:
    [total] = re.findall(r"^\| all \| \| [\d,]+ \| ([\d,]+) \|", RELEASES.read_text(), re.MULTILINE)
    told = re.findall(
        r"([\d,]+) (?:recorded responses|of [\d,]+ responses are equal)", (ROOT / name).read_text()
    )
    assert told[0] == total
