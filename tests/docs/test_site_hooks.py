"""The hooks of the site: tabs, the home page, colours that can be read."""

import re
from types import SimpleNamespace
from typing import Any

import pytest

from tests.docs.shown import ROOT

CSS = (ROOT / "docs/site/theme/assets/stylesheets/site.css").read_text()


def page(path: str) -> SimpleNamespace:
    return SimpleNamespace(file=SimpleNamespace(src_uri=path), meta={})


def test_headings_between_marks_become_tabs(hooks: Any) -> None:
    text = "<!-- tabs -->\n#### Java\n\n```java\n# code\n```\n\n#### Go\n\ntext\n<!-- /tabs -->\n"
    made = hooks.on_page_markdown(text, page("guides/languages.md"))
    assert made == '=== "Java"\n\n    ```java\n    # code\n    ```\n\n=== "Go"\n\n    text\n\n'


def test_links_to_files_outside_of_the_pages_lead_to_the_repository(hooks: Any) -> None:
    text = "[a](../../src/a.py#test), [b](pytest.md#fixtures)"
    made = hooks.on_page_markdown(text, page("guides/languages.md"))
    assert made == f"[a]({hooks.REPOSITORY}src/a.py#test), [b](pytest.md#fixtures)"


def test_links_between_pages_inside_and_outside_of_docs_stay_in_the_site(hooks: Any) -> None:
    """Pages outside of docs/ are in the site at their path in the repository."""
    hooks._outside.add("packages/go/README.md")
    made = hooks.on_page_markdown("[a](../../packages/go/README.md)", page("guides/pytest.md"))
    assert made == "[a](../packages/go/README.md)"
    text = "[b](../../docs/guides/pytest.md), [c](example/orders_test.go), [d](../../tests)"
    made = hooks.on_page_markdown(text, page("packages/go/README.md"))
    example = f"{hooks.REPOSITORY}packages/go/example/orders_test.go"
    assert made == f"[b](../../guides/pytest.md), [c]({example}), [d]({hooks.FOLDERS}tests)"


def test_the_home_page_has_links_that_work_in_the_site(hooks: Any) -> None:
    hooks._outside.add("packages/go/README.md")
    home = hooks.on_page_markdown("# Documentation\n\nAll pages.\n", page("README.md"))
    assert home.startswith("# kafka-shim\n")
    assert "](explanation/tested.md)" in home
    assert "](packages/go/README.md)" in home
    assert 'src="pictures/principals.png#only-light"' in home
    assert "docs/" not in home


def test_indented_commands_become_fenced_blocks_with_their_language(hooks: Any) -> None:
    text = "a\n\n    make run\n\nb\n\n    $ make run\n    started\n\n```\nx\n\n    y\n```\n"
    made = hooks.fenced(text)
    commands, console = "```bash\nmake run\n```\n", "```console\n$ make run\nstarted\n```\n"
    assert made == f"a\n\n{commands}\nb\n\n{console}\n```\nx\n\n    y\n```\n"


def luminance(colour: str) -> float:
    """Return the relative luminance of WCAG."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize(
    ("scheme", "background", "contrast_min"),
    [("default", "#ffffff", 6.3), ("slate", "#1e2129", 7)],
)
def test_links_have_the_contrast_of_the_inspectors_accent(
    scheme: str, background: str, contrast_min: float
) -> None:
    rules = CSS.partition(f'"{scheme}"')[2].partition("}")[0]
    [colour] = re.findall(r"--md-typeset-a-color: (#\w{6})", rules)
    lighter, darker = sorted((luminance(colour), luminance(background)), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= contrast_min
    inspector = (ROOT / "src/kafka_shim/shim/control/inspector/inspector.css").read_text()
    assert colour in re.findall(r"--accent: (.+);", inspector)[0]
