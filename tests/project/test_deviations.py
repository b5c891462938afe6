"""docs/explanation/differences.md matches the marks in the code, and links to existing tests."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "explanation" / "differences.md").read_text()
PACKAGE = ROOT / "src" / "kafka_shim"
CODE = list(PACKAGE.rglob("*.py"))
_ENTRY = re.compile(r"^- (.+)$", re.MULTILINE)
_CODE = re.compile(r"\[code\]\(\.\./\.\./src/kafka_shim/([\w/]+\.py)\)")
_TEST = re.compile(r"\[test\]\(\.\./\.\./(tests/[\w/]+\.py)#(test_\w+)\)")


def test_every_mark_in_the_code_is_on_the_page() -> None:
    marked = {
        path.relative_to(PACKAGE).as_posix() for path in CODE if "DEVIATION:" in path.read_text()
    }
    assert marked
    assert marked - set(_CODE.findall(PAGE)) == set()


def test_every_entry_links_to_a_test_that_exists() -> None:
    entries = _ENTRY.findall(PAGE)
    assert len(entries) > 60
    for entry in entries:
        tests = _TEST.findall(entry)
        assert tests, entry
        for path, name in tests:
            assert f"def {name}(" in (ROOT / path).read_text(), entry


def test_files_that_the_page_links_to_exist() -> None:
    for name in _CODE.findall(PAGE):
        assert (PACKAGE / name).exists(), name
