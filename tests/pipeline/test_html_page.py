"""Pages with charts: correct figures, nothing loaded, and their display in a real browser."""

import json
import re
import shutil
import subprocess
import tempfile
from datetime import timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from kafka_shim.pipeline.cli import html_page_of_outcome
from kafka_shim.pipeline.intervals import (
    axis_tick_values,
    describe_interval,
    parse_interval_seconds,
    round_interval_for_span,
)
from kafka_shim.pipeline.jobs import clients
from kafka_shim.pipeline.jobs.report import summary_notes
from kafka_shim.pipeline.jobs.timeline import JOB
from kafka_shim.pipeline.report.charts import (
    WIDTH,
    chart_html,
    largest_bars_chart,
    largest_series_line_chart,
    stacked_column_chart,
)
from kafka_shim.pipeline.report.login_requests import BEFORE_LOGIN
from tests.pipeline.outcomes import (
    AWKWARD,
    BEGIN,
    OBSERVED,
    PEOPLE,
    denials,
    timeline,
    whole_report,
)

VOID = {"meta", "link", "img", "br", "input"}
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="needs chromium (Debian's package of that name)"
)


class Tags(HTMLParser):
    """Collects start tags with their attributes; fails if an end tag does not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag


def test_a_page_loads_nothing_and_runs_nothing() -> None:
    tags = Tags(html_page_of_outcome(whole_report(), ["a<b"])).found
    assert not {tag for tag, _ in tags} & {"script", "link", "img", "iframe", "object", "base"}
    for tag, attributes in tags:
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            if name in ("href", "src"):
                assert value is not None
                assert value.startswith("#")
    policy = [a["content"] for t, a in tags if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'"]


def test_everything_has_a_name_for_screen_readers() -> None:
    tags = Tags(html_page_of_outcome(whole_report(), ["t"])).found
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    referring = ("aria-labelledby", "aria-describedby")
    pictures = [attributes for tag, attributes in tags if attributes.get("role") == "img"]
    assert len(pictures) == 16
    for attributes in pictures:
        assert {attributes[name] for name in referring} <= set(ids)
    for tag, attributes in tags:
        if attributes.get("tabindex") == "0":  # scrollable regions can be focused, and have a label
            assert attributes["role"] == "region"
            assert attributes["aria-label"]
        if tag == "th":
            assert attributes["scope"] in ("col", "row")
        if tag == "a":
            assert str(attributes["href"])[1:] in ids


def test_a_report_begins_with_what_breaks_and_how_sure_that_is() -> None:
    report = whole_report()
    text = html_page_of_outcome(report, ["t"])
    sections = re.findall(r'<h2 id="section-\d-title">([^<]+)', text)
    assert sections[:4] == ["summary", "what-breaks", "denials", "unused-acls"]
    summary = text[text.index("section-1-title") : text.index("section-2-title")]
    for line in (
        "What breaks: 20 different accesses would newly be denied, and 900 requests newly fail",
        "Denied: 45 accesses of 3 principals (3 different).",
        "Unused ACLs: 2 of 4 can be removed; of 1 others it is not known whether they are needed.",
        (
            "Based on 60 accesses, 9 different, of 3 principals in 90 requests on 2 brokers,"
            " 2026-01-31T22:00:00+00:00 to"
        ),
        "left out: 10 accesses of User:bob: a try",
        "1 damaged places (17 bytes) left out",
    ):
        assert line in summary
    without_acls = summary_notes([denials()], OBSERVED)
    assert without_acls[0].startswith("What breaks: not examined; --candidate FILE")
    assert without_acls[2].startswith("Unused ACLs: not examined; --acls FILE")


def test_requests_before_the_login_are_apart() -> None:
    outcome = timeline()
    row = outcome.rows[0] | {"principal": "User:ANONYMOUS"}
    outcome.rows = [
        row | {"api": "SaslHandshake", "requests": 3},
        row | {"principal": "User:alice", "api": "Fetch", "requests": 7},
        row | {"client_id": "no-login", "api": "ApiVersions", "requests": 1},
        row | {"client_id": "no-login", "api": "Fetch", "requests": 5},
    ]
    by_principal = JOB.charts(outcome)[0]
    assert by_principal.column_headings == ("time", "User:alice", "User:ANONYMOUS", BEFORE_LOGIN)
    assert by_principal.table_rows[0][1:] == ("7", "6", "3")
    software = {"software_name": "", "software_version": None}
    outcome.rows = [row | software for row in outcome.rows]
    by_software, by_principal = clients.JOB.charts(outcome)
    assert by_software.table_rows == [("unknown", "16")]  # each bar has a label
    assert by_principal.table_rows == [
        ("User:alice", "7"),
        ("User:ANONYMOUS", "6"),
        (BEFORE_LOGIN, "3"),
    ]


def test_the_labels_of_an_axis_are_not_cut() -> None:
    outcome = timeline()
    first = outcome.rows[0]["time"]
    outcome.interval = "1 second"
    outcome.rows = [outcome.rows[0] | {"time": first + timedelta(seconds=n)} for n in range(2)]
    chart = JOB.charts(outcome)[0]
    assert chart.title == "Requests each second, by principal"
    labels = re.findall(r'<text x="([\d.]+)" y="\d+" class="middle">([\d:]+)</text>', chart.svg)
    assert len(labels) == 3
    assert all(float(x) - 4 * len(text) >= 0 for x, text in labels)
    assert all(float(x) + 4 * len(text) <= WIDTH for x, text in labels)


@pytest.mark.parametrize(
    ("interval", "words"),
    [
        ("1 seconds", "each second"),
        ("90 seconds", "every 90 seconds"),
        ("3600 seconds", "each hour"),
        ("120 minutes", "every 2 hours"),
        ("1 day", "each day"),
    ],
)
def test_an_interval_is_named_by_its_largest_unit(interval: str, words: str) -> None:
    assert describe_interval(interval) == words


def test_foreign_text_is_escaped() -> None:
    text = html_page_of_outcome(denials(), ["t"])
    assert AWKWARD not in text
    assert "&lt;script&gt;" in text


def test_bars_are_proportional_to_their_values() -> None:
    chart = largest_bars_chart(
        "T", "requests", [*PEOPLE.items(), *((f"n{n:02}", 1) for n in range(20))]
    )
    widths = [float(w) for w in re.findall(r'<rect [^>]*width="([\d.]+)%"', chart.svg)]
    assert len(widths) == 16
    assert widths[1] / widths[0] == pytest.approx(12 / 30, abs=0.01)
    assert "8 others 8" in chart.summary
    assert len(chart.table_rows) == 23


def test_columns_are_stacked_and_lines_are_not() -> None:
    points = [(BEGIN, "a", 3.0), (BEGIN, "b", 1.0), *((BEGIN, f"x{n}", 0.5) for n in range(5))]
    chart = stacked_column_chart("T", "requests", points, 60)
    assert chart.column_headings == ("time", "a", "b", "x0", "x1", "x2", "others")
    assert chart.table_rows == [("2026-01-31 22:00:00", "3.0", "1.0", "0.5", "0.5", "0.5", "1.0")]
    heights = [
        float(h) for h in re.findall(r'<rect [^>]*height="([\d.]+)" class="s\d"><', chart.svg)
    ]
    assert heights[0] == pytest.approx(3 * heights[1], abs=0.2)
    assert "others" not in largest_series_line_chart("T", "ms", points, 60).column_headings
    assert chart_html(chart) != chart_html(chart)  # ids are unique


def test_intervals() -> None:
    from datetime import timedelta

    assert parse_interval_seconds("10 seconds") == 10
    assert parse_interval_seconds("1 day") == 86400
    assert round_interval_for_span(timedelta(hours=1)) == "60 seconds"
    assert round_interval_for_span(timedelta(0)) == "1 seconds"
    for largest in (0, 1, 7, 99, 100, 101, 12345):
        steps = axis_tick_values(largest)
        assert steps[0] == 0
        assert steps[-1] >= largest > steps[-2] - (largest == 0)
        assert len(steps) <= 6


MEASURE = """<script>
const box = (element) => {
  const found = element.getBoundingClientRect();
  return [found.left, found.top, found.right, found.bottom];
};
const charts = [...document.querySelectorAll('figure')].map((figure) => ({
  title: figure.querySelector('figcaption').textContent,
  picture: box(figure.querySelector('svg')),
  texts: [...figure.querySelectorAll('svg text')].map(box),
  bars: [...figure.querySelectorAll('svg rect')].map((e) => [box(e), getComputedStyle(e).fill]),
}));
const out = { charts, width: document.documentElement.scrollWidth, shown: innerWidth };
out.loaded = performance.getEntriesByType('resource').length;
document.body.dataset.measured = JSON.stringify(out);
</script>"""


def browse(page: Path, *options: str) -> str:
    assert CHROMIUM is not None
    with tempfile.TemporaryDirectory() as profile:
        command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        command += [f"--user-data-dir={profile}", *options, "--dump-dom", page.as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=50, check=True)
    return done.stdout


@needs_chromium
@pytest.mark.parametrize("width", [1280, 500])
def test_a_browser_loads_nothing_and_shows_plots_in_proportion(tmp_path: Path, width: int) -> None:
    page = tmp_path / "page.html"
    text = re.sub(r"<meta http-equiv[^>]*>", "", html_page_of_outcome(whole_report(), ["t"]))
    page.write_text(text.replace("</body>", f"{MEASURE}</body>"))
    shown = browse(page, f"--window-size={width},2000")
    found = re.search(r'data-measured="([^"]*)"', shown)
    assert found is not None
    measured = json.loads(found[1].replace("&quot;", '"'))
    assert measured["loaded"] == 0  # although the test removed the CSP to run its script
    assert measured["width"] <= measured["shown"] == width  # no horizontal scrolling
    assert len(measured["charts"]) == 16
    for chart in measured["charts"]:
        left, top, right, bottom = chart["picture"]
        boxes = [*chart["texts"], *(box for box, _ in chart["bars"])]
        assert boxes
        for box in boxes:
            assert left - 1 <= box[0] <= box[2] <= right + 1, (chart["title"], box)
            assert top - 1 <= box[1] <= box[3] <= bottom + 1, (chart["title"], box)
        for text in chart["texts"]:
            for other in chart["texts"]:
                if text is not other:  # labels do not overlap
                    apart = text[2] <= other[0] or other[2] <= text[0]
                    assert apart or text[3] <= other[1] + 1 or other[3] <= text[1] + 1, chart[
                        "title"
                    ]
    by_principal = next(c for c in measured["charts"] if c["title"] == "Denials by principal")
    lengths = [box[2] - box[0] for box, _ in by_principal["bars"]]
    assert lengths[1] / lengths[0] == pytest.approx(12 / 30, abs=0.01)
    fills = {fill for chart in measured["charts"] for _, fill in chart["bars"]}
    assert len(fills) == 6  # every series looks different
