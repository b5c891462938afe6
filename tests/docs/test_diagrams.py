"""The drawings of the pages show what was run, and can be read in both schemes."""

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.docs.diagrams import (
    CALLS,
    JOBS,
    OUTPUTS,
    SOURCES,
    STYLE,
    denial_panes,
    draw_denial,
    draw_jobs,
    draw_ports,
    draw_what_breaks,
    inspector_lines,
    served,
    what_breaks,
)
from tests.docs.pictures import PICTURES
from tests.docs.shown import ROOT
from tests.docs.test_site_hooks import luminance
from tests.support.browser import BROWSER, DRIVER, chromium

COMMANDS = ROOT / "docs" / "reference" / "commands"
DRAWINGS = sorted(PICTURES.glob("*.svg"))
OUTDATED = "run `python -m tests.docs.diagrams`"


def drawn(name: str) -> str:
    return (PICTURES / f"{name}.svg").read_text(encoding="utf-8")


def texts(svg: str) -> list[str]:
    return [each.text or "" for each in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_the_ports_and_the_denial_are_those_of_a_run(tmp_path: Path) -> None:
    """The inspector's part needs a browser, and is compared by the next test."""
    with served(tmp_path) as broker:
        ports = draw_ports([broker.shown(line) for line in broker.lines])
        panes = denial_panes(broker, tmp_path)
    assert drawn("ports") == ports.svg(), OUTDATED
    shown = texts(drawn("denial"))
    assert shown[: shown.index("inspector")] == texts(draw_denial(panes).svg()), OUTDATED


@pytest.mark.heavy
@pytest.mark.timeout(300)
@pytest.mark.skipif(
    BROWSER is None or DRIVER is None,
    reason="needs a browser: Debian's packages chromium and chromium-driver",
)
def test_the_denial_is_that_of_the_inspector(tmp_path: Path) -> None:
    with served(tmp_path) as broker, chromium() as driver:
        panes = denial_panes(broker, tmp_path)
        panes["inspector"] = inspector_lines(driver, broker)
    assert drawn("denial") == draw_denial(panes).svg(), OUTDATED


def test_the_result_of_what_breaks_is_that_of_the_repositorys_trace() -> None:
    result = what_breaks()
    assert result["newly_denied"] > 0
    assert drawn("what-breaks") == draw_what_breaks(result).svg(), OUTDATED


def test_jobs_options_and_calls_of_the_drawings_exist() -> None:
    assert drawn("jobs") == draw_jobs().svg(), OUTDATED
    pipeline = (COMMANDS / "pipeline.md").read_text()
    assert [name for name in JOBS if f"## kafka-shim pipeline {name}\n" not in pipeline] == []
    options = ", ".join(OUTPUTS).replace(" ", "").strip(",").split(",")
    assert [name for name in options if f"`{name}" not in pipeline] == []
    for source in SOURCES:
        _, command, word = source.split()
        shown = (COMMANDS / f"{command}.md").read_text()
        assert f"{word} " in shown, source
    http = (ROOT / "docs" / "reference" / "http-api.md").read_text()
    assert [call for call in CALLS if call not in http] == []


@pytest.mark.parametrize("drawing", DRAWINGS, ids=lambda path: path.stem)
def test_a_drawing_is_on_a_page_with_its_alternative_text(drawing: Path) -> None:
    pages = "".join(page.read_text() for page in (ROOT / "docs").rglob("*.md"))
    assert re.search(rf"!\[[^\]]{{20,}}\]\([./]*pictures/{drawing.name}\)", pages)
    assert "<title>" in drawing.read_text()


def test_drawings_can_be_read_in_light_and_dark_colours() -> None:
    light, dark = STYLE.split("@media (prefers-color-scheme: dark)")
    for rules in (light, dark):
        colours = dict(re.findall(r"([.\w]+) {[^}]*fill: (#\w+)", rules))
        colours = {
            name: re.sub(r"^#(\w)(\w)(\w)$", r"#\1\1\2\2\3\3", c) for name, c in colours.items()
        }
        for text in ("text", ".note", ".denied", ".allowed"):
            for behind in (".page", ".box", ".broker"):
                one, other = sorted((luminance(colours[text]), luminance(colours[behind])))
                assert (other + 0.05) / (one + 0.05) >= 4.5, (text, behind)
    assert all(STYLE in path.read_text() for path in DRAWINGS)
    assert len(DRAWINGS) == 4
