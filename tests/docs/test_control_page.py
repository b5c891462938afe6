"""docs/guides/languages.md has the current examples and fields of POST /brokers."""

import re

import msgspec

from kafka_shim.shim.control.broker_bodies import CreatedBroker
from kafka_shim.shim.control.broker_registry import CREATED_MAX
from tests.docs.shown import ROOT

PAGE = (ROOT / "docs" / "guides" / "languages.md").read_text()
LANGUAGES = {".js": "js", ".go": "go", ".java": "java"}
SHOWN = re.findall(
    r"\]\((?:\.\./)+(examples/[^)]+)\):\n\n```(\w+)\n(.*?)^```$",
    PAGE,
    re.MULTILINE | re.DOTALL,
)
"""Path, language and text of each block."""


def test_code_on_the_page_is_that_of_the_examples() -> None:
    assert len(SHOWN) == len(re.findall(r"^```(?:js|go|java)$", PAGE, re.MULTILINE)) == 3
    for path, language, text in SHOWN:
        written = (ROOT / path).read_text()
        assert LANGUAGES[(ROOT / path).suffix] == language
        assert text.rstrip() in written, f"docs/guides/languages.md differs from {path}"


def test_the_response_on_the_page_has_the_fields_of_the_api() -> None:
    [text] = re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    shown = msgspec.json.decode(text)
    row = msgspec.convert(shown, CreatedBroker)
    assert list(shown) == list(CreatedBroker.__struct_fields__)
    assert row.path == f"/brokers/{row.id}"


def test_the_limit_of_created_brokers_is_named() -> None:
    assert f"up to {CREATED_MAX} brokers" in PAGE
