"""llms.txt of the site lists every page of the documentation, with an address and a description."""

import re
from typing import Any

from tests.docs.index import listed_pages
from tests.docs.shown import ROOT

SITE = "https://example.org/"


def test_llms_text_lists_every_page_with_a_description(hooks: Any) -> None:
    listed = {page.path for page in listed_pages()}
    text = hooks.llms_text((ROOT / "docs" / "README.md").read_text(), SITE, listed)
    lines = text.splitlines()
    assert lines[0] == "# kafka-shim"
    assert lines[2].startswith("> kafka-shim is a Kafka broker for tests")
    links = re.findall(r"^- \[([^\]]+)\]\(([^)]+)\): (.+)$", text, re.MULTILINE)
    paths = {address.removeprefix(SITE) for _, address, _ in links}
    outside = {path for path in paths if path.startswith(hooks.REPOSITORY)}
    assert f"{hooks.REPOSITORY}CHANGELOG.md" in outside
    assert paths - outside == listed
    assert "packages/go/README.md" in listed
    assert all(sentence for _, _, sentence in links)
