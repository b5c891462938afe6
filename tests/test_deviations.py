"""docs/explanation/differences.md matches the marks in the code, and names existing tests."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "explanation" / "differences.md").read_text()
PACKAGE = ROOT / "src" / "kafka_shim"
CODE = list(PACKAGE.rglob("*.py"))


def test_every_mark_in_the_code_is_on_the_page() -> None:
    marked = [path for path in CODE if "DEVIATION:" in path.read_text()]
    assert marked
    for path in marked:
        assert f"`{path.relative_to(PACKAGE).as_posix()}`" in PAGE, path


def test_files_and_tests_that_the_page_names_exist() -> None:
    files = re.findall(r"`((?:shim|protocol|authorizer|pipeline|schemas)/[\w/]+\.py)`", PAGE)
    assert files
    for name in files:
        assert (PACKAGE / name).exists(), name
    tests = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    named = re.findall(r"`(test_\w+)`", PAGE)
    assert len(named) >= 6
    for name in named:
        assert f"def {name}(" in tests, name
