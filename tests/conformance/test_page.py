"""The page of reports in a real headless browser."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.conformance import RequirementLevel
from kafka_shim.conformance.case import CaseOutcome
from kafka_shim.conformance.frames import ReportedExchange
from kafka_shim.conformance.report import Report, ResultRow, as_html
from tests.support.browser import BROWSER, DRIVER
from tests.support.commands import SHIM

needs_browser = pytest.mark.skipif(
    BROWSER is None or DRIVER is None,
    reason="needs a browser: Debian's packages chromium and chromium-driver",
)
EVIL = "</script><b id='evil'>"
DENIED = ReportedExchange(
    "DeleteTopics",
    6,
    '{"topics":[{"name":"denied"}]}',
    '{"responses":[{"name":"denied","errorCode":29}]}',
    ("TOPIC_AUTHORIZATION_FAILED",),
)


def row(
    name: str, outcome: CaseOutcome, level: RequirementLevel = RequirementLevel.MUST
) -> ResultRow:
    is_failure = outcome is CaseOutcome.FAILED
    return ResultRow(
        id=name,
        title=f"what {name} is about",
        origin="KIP-11",
        level=level,
        kafka_version="9.9",
        outcome=outcome,
        expected_response="TOPIC_AUTHORIZATION_FAILED (29)",
        expected_requests="at most 5 requests a second",
        last_response=f"ok {EVIL}",
        expected="an error" if is_failure else "",
        observed="the client reported ok" if is_failure else "",
        frames=(DENIED,),
        seconds=0.1,
        fails_run=is_failure and level is RequirementLevel.MUST,
    )


REPORTS = [
    Report(
        f"toy {EVIL}",
        (
            row("denials.a.reports-error", CaseOutcome.PASSED),
            row("denials.b.reports-error", CaseOutcome.FAILED),
            row("trouble.c", CaseOutcome.FAILED, RequirementLevel.SHOULD),
            row("trouble.d", CaseOutcome.UNSUPPORTED),
            row("trouble.e", CaseOutcome.NOT_EXERCISED),
        ),
    ),
    Report("other 1.0", (row("denials.a.reports-error", CaseOutcome.PASSED),)),
]


@pytest.fixture
def page(tmp_path: Path, chrome: Any) -> Iterator[Any]:
    file = tmp_path / "report.html"
    file.write_text(as_html(REPORTS), encoding="utf-8")
    chrome.get("about:blank")
    chrome.get_log("browser")  # discard messages of earlier pages
    chrome.get(file.as_uri())
    yield chrome
    assert [line for line in chrome.get_log("browser") if line["level"] == "SEVERE"] == []


def cells(page: Any) -> list[str]:
    return [each.text for each in page.find_elements("css selector", "td button")]


@pytest.mark.client
@needs_browser
@pytest.mark.timeout(120, func_only=True)
def test_the_page_shows_clients_and_cases(page: Any) -> None:
    assert cells(page) == ["✓", "✓", "✕", "!", "\N{EN DASH}", "○"]
    shares = [each.text for each in page.find_elements("css selector", ".share")]
    assert shares == ["25.0 %", "100.0 %"]
    page.find_element("css selector", "#failures").click()
    assert cells(page) == ["✕", "!"]
    page.find_element("css selector", "#search").send_keys("denials.b")
    assert cells(page) == ["✕"]


@pytest.mark.client
@needs_browser
@pytest.mark.timeout(120, func_only=True)
def test_the_card_of_a_client_hides_the_others(page: Any) -> None:
    other = page.find_elements("css selector", ".client")[1]
    other.click()
    assert cells(page) == ["✓"]
    other.click()
    assert len(cells(page)) == 6


@pytest.mark.client
@needs_browser
@pytest.mark.timeout(120, func_only=True)
def test_a_cell_shows_expectation_result_and_requests(page: Any) -> None:
    page.find_elements("css selector", "td button")[2].click()
    details = page.find_element("css selector", "#details")
    for text in ("denials.b.reports-error", "TOPIC_AUTHORIZATION_FAILED (29)", f"ok {EVIL}", "9.9"):
        assert text in details.text
    marks = [each.text for each in details.find_elements("css selector", "mark")]
    assert marks == ['"errorCode":29']
    assert page.find_elements("css selector", "#evil") == []
    page.find_element("css selector", "body").send_keys("\ue00c")  # Escape
    assert not details.is_displayed()


@pytest.mark.client
@needs_browser
@pytest.mark.timeout(120, func_only=True)
def test_the_page_follows_the_colour_scheme(page: Any) -> None:
    colors = set()
    for _ in range(2):
        page.find_element("css selector", "#theme").click()
        colors.add(page.find_element("css selector", "body").value_of_css_property("color"))
    assert len(colors) == 2


def test_the_page_loads_no_other_resources() -> None:
    page = as_html(REPORTS)
    assert "http://" not in page
    assert "https://" not in page
    assert "src=" not in page


def report(*words: str) -> "subprocess.CompletedProcess[str]":
    command = [*SHIM, "conformance", "report", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_reports_are_read_from_files(tmp_path: Path) -> None:
    from kafka_shim.conformance.report import as_json

    files = []
    for number, each in enumerate(REPORTS):
        files.append(tmp_path / f"{number}.json")
        files[-1].write_text(as_json(each))
    words = [str(file) for file in files]
    assert report(*words).stdout == as_html(REPORTS)
    files[0].write_text(json.dumps({"client": "x"}))
    done = report(words[0])
    assert done.returncode != 0
    assert "is not a report of `conformance suite`" in done.stderr
