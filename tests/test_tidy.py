"""House rules that no linter knows."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("schemas", "protocol", "authorizer", "shim", "pipeline")
FILE_LINES_MAX = 360
FUNCTION_LINES_MAX = 60

SOURCES = sorted(
    path
    for package in PACKAGES
    for path in (ROOT / package).rglob("*.py")
    if "messages" not in path.parts
)

ALL_SOURCES = SOURCES + sorted(
    path for name in ("benchmarks", "tests") for path in (ROOT / name).rglob("*.py")
)

RELEASES_MAY_BE_NAMED = (
    "protocol/releases.py",
    "protocol/config_releases.py",
    "protocol/group_releases.py",
    "protocol/record_releases.py",
    "protocol/telemetry_releases.py",
    "protocol/topic_releases.py",
    "protocol/api_versions.py",
    "protocol/features.py",
    "authorizer/acl_releases.py",
    "authorizer/acl_tool_releases.py",
    "authorizer/requirements/",
    "schemas/",
    "shim/control/openapi.py",  # the version of OpenAPI looks like one of Kafka
)

RELEASE_LITERAL = re.compile(r"(?:0\.11|[1-4]\.\d{1,2})(?:\.\d+)?")


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", ALL_SOURCES, ids=relative)
def test_files_and_functions_are_short(path: Path) -> None:
    text = path.read_text()
    assert text.count("\n") <= FILE_LINES_MAX
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert (node.end_lineno or 0) - node.lineno < FUNCTION_LINES_MAX, node.name


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_every_module_says_what_it_is(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text()))


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_releases_are_named_in_their_places_only(path: Path) -> None:
    if relative(path).startswith(RELEASES_MAY_BE_NAMED):
        return
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert not RELEASE_LITERAL.fullmatch(node.value), (node.lineno, node.value)


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_only_dispatch_catches_everything(path: Path) -> None:
    if relative(path) == "shim/dispatch.py":
        return
    assert "except Exception" not in path.read_text()


def test_handlers_have_their_two_functions_and_begin_with_their_key() -> None:
    from shim.apis import HANDLED, handler_of

    for key in HANDLED:
        module = handler_of(key)
        assert callable(module.handle), key
        assert callable(module.refuse), key
        assert (module.__doc__ or "").startswith(f"{key.value} {key.wire_name}"), key


def test_every_handler_file_is_served() -> None:
    from shim.apis import HANDLED

    files = {path.stem for path in (ROOT / "shim" / "handlers").glob("*.py")} - {"__init__"}
    named = {key.name.lower() for key in HANDLED}
    assert named <= files
    for extra in files - named:  # shared by several handlers: named so
        assert extra.startswith("_"), extra


def test_no_machine_paths_or_unfinished_places() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split("\n")
    marker = re.compile("TO" + "DO|FIX" + "ME|XX" + r"X\b|NotImplemented" + "Error")
    for name in listed:
        path = ROOT / name
        if path.suffix in {".py", ".md", ".toml", ".yml", ".yaml", ".go", ".java"}:
            text = path.read_text(encoding="utf-8")
            assert not marker.search(text), name
            assert not re.search(r"(?<![\w.~])/(?:work|root|farm)/", text), name
