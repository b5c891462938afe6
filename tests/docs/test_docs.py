"""Pages are complete, their links work, and generated parts are current."""

import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager

from kafka_shim.cli.man_page import man_page
from kafka_shim.cli.reference import reference_pages
from tests.docs.generated_pages.kips import KIPS
from tests.docs.generated_pages.pages import PAGES
from tests.docs.index import DOCS, INDEX, index_text, listed_pages
from tests.docs.shown import ROOT, pages
from tests.support.generated_files import outdated

COMMANDS = ROOT / "docs" / "reference" / "commands"


def linking_pages() -> list[Path]:
    """Return all pages, also generated ones."""
    return sorted({*(ROOT / page for page in pages()), *DOCS.rglob("*.md")})


def test_links_have_targets() -> None:
    for path in linking_pages():
        for link in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", path.read_text()):
            if "://" not in link:
                assert (path.parent / link).exists(), f"{path.name}: {link}"


def anchors(path: Path) -> set[str]:
    """Return the anchors of a page's headings on GitHub."""
    headings = re.findall(r"^#+ (.+)$", shown_text(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


def shown_text(path: Path) -> str:
    """Return a page without its fenced blocks, in which `#` begins a comment."""
    return re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.MULTILINE | re.DOTALL)


def test_anchors_of_links_are_headings() -> None:
    for path in linking_pages():
        for link, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", shown_text(path)):
            target = path.parent / link if link else path
            if target.suffix != ".md":
                continue  # a test in a file
            assert anchor in anchors(target), f"{path.name}: {link}#{anchor}"


def test_links_of_the_package_on_the_index_are_absolute() -> None:
    """The package's long description is the README, whose links are relative to the repository."""
    metadata = ProjectMetadata(str(ROOT), PluginManager()).core
    links = re.findall(r"\]\(([^)]+)\)", metadata.readme)
    assert [link for link in links if not link.startswith("https://")] == []
    assert (
        "](https://github.com/kafka-shim/kafka-shim/blob/main/docs/start/tutorial.md)"
        in metadata.readme
    )
    assert '="https://raw.githubusercontent.com/kafka-shim/kafka-shim/main/docs/pictures/' in (
        metadata.readme
    )


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    pages = {path for path in DOCS.rglob("*.md") if path.parent != DOCS / "site"}
    pages |= {*ROOT.glob("packages/*/README.md"), ROOT / "vectors/README.md"}
    pages |= {ROOT / "benchmarks/README.md"}
    listed = [page.file for page in listed_pages()]
    assert sorted(listed) == sorted(pages - {INDEX}), "name it in docs/site/mkdocs.yml"


def test_every_page_is_in_the_folder_of_its_kind() -> None:
    folders = {"Get started": "start", "Guides": "guides", "Reference": "reference"}
    folders["Explanation"] = "explanation"
    misplaced = [
        page.path
        for page in listed_pages()
        if page.file.is_relative_to(DOCS) and page.path.split("/")[0] != folders[page.section]
    ]
    assert misplaced == []


def test_the_index_is_current() -> None:
    assert INDEX.read_text(encoding="utf-8") == index_text(), outdated("docs/README.md")


def test_first_sentences_are_short_enough_for_the_index() -> None:
    lengths = {page.path: len(page.first_sentence) for page in listed_pages()}
    assert {path: length for path, length in lengths.items() if not 10 < length <= 160} == {}


def test_no_page_begins_with_its_audience() -> None:
    firsts = {
        path.name: path.read_text().split("\n\n")[1] for path in (ROOT / "docs").rglob("*.md")
    }
    beginning = re.compile(r"For (?:people|developers|anyone)\b")
    assert [name for name, first in firsts.items() if beginning.match(first)] == []


def test_the_commands_reference_is_current() -> None:
    """Line breaks in usage lines are ignored, since they depend on the Python version."""
    made = {name: text.split() for name, text in reference_pages().items()}
    written = {page.name: page.read_text().split() for page in COMMANDS.glob("*.md")}
    assert written == made, outdated("docs/reference/commands/serve.md")


@pytest.mark.parametrize("path", PAGES)
def test_the_pages_made_from_the_code_are_current(path: str) -> None:
    assert (ROOT / path).read_text(encoding="utf-8") == PAGES[path](), outdated(path)


def test_the_page_of_settings_has_the_effect_of_each() -> None:
    page = (ROOT / "docs" / "reference" / "settings.md").read_text()
    effects = dict(re.findall(r"^\| `(\S+)` \| ([a-z ]+) \|", page, re.MULTILINE))
    obeyed = {name for name, effect in effects.items() if effect == "obeyed"}
    assert {"listeners", "log.retention.ms", "sasl.oauthbearer.jwks.endpoint.url"} <= obeyed
    assert {"group.consumer.session.timeout.ms", "share.session.timeout.ms"} <= obeyed
    assert effects["log.dirs"] == "obeyed"
    assert effects["remote.log.copy.disable"] == "no effect"
    assert effects["principal.builder.class"] == "refused"
    assert set(effects.values()) == {"obeyed", "no effect", "refused"}


def test_the_tests_of_kips_exist() -> None:
    assert [kip.number for kip in KIPS if not (ROOT / kip.test).exists()] == []
    assert len({kip.number for kip in KIPS}) == len(KIPS)


def test_the_manual_page_is_current() -> None:
    assert (ROOT / "docs" / "kafka-shim.1").read_text().split() == man_page().split(), outdated(
        "docs/kafka-shim.1"
    )


def test_the_first_example_says_what_it_needs() -> None:
    with socket.socket() as taken:  # bound, but not listening
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        done = subprocess.run(
            [sys.executable, str(ROOT / "examples" / "denied.py"), address],
            capture_output=True,
            check=False,
            text=True,
            timeout=20,
        )
    assert done.returncode == 1
    [line] = done.stderr.splitlines()
    assert line.startswith(f"no broker at {address} ")
    assert "`make run`" in line


def test_pages_of_guides_name_the_questions_that_they_answer() -> None:
    """The comment below the title has three; a reader who has not written the page checks them."""
    pages = [page for page in listed_pages() if page.path.startswith(("start/", "guides/"))]
    without = [
        page.path
        for page in pages
        if not re.match(r"# .*\n\n<!-- (?:[^?]+\?){3} -->\n", page.file.read_text(encoding="utf-8"))
    ]
    assert not without
