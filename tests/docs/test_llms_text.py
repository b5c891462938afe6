"""llms.txt of the site lists every page of the documentation, with an address and a description."""

import re
from importlib.util import module_from_spec, spec_from_file_location

from tests.docs.shown import ROOT

SITE = "https://example.org/"


def test_llms_text_lists_every_page_with_a_description() -> None:
    spec = spec_from_file_location("site_hooks", ROOT / "docs" / "site" / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    hooks = module_from_spec(spec)
    spec.loader.exec_module(hooks)
    text = hooks.llms_text((ROOT / "docs" / "README.md").read_text(), SITE)
    lines = text.splitlines()
    assert lines[0] == "# kafka-shim"
    assert lines[2].startswith("> kafka-shim is a Kafka broker for tests")
    links = re.findall(r"^- \[([^\]]+)\]\(([^)]+)\): (.+)$", text, re.MULTILINE)
    paths = {re.sub(f"^{SITE}", "docs/", address) for _, address, _ in links}
    outside = {path for path in paths if path.startswith(hooks.REPOSITORY)}
    assert f"{hooks.REPOSITORY}benchmarks/README.md" in outside
    paths -= outside
    pages = {f"docs/{path.relative_to(ROOT / 'docs')}" for path in (ROOT / "docs").rglob("*.md")}
    assert paths == pages - {"docs/README.md"}
    assert all(sentence for _, _, sentence in links)
