"""Rules of this project that no linter checks."""

import ast
import re
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE_FOLDER = ROOT / "src" / "kafka_shim"

SOURCES = sorted(path for path in SOURCE_FOLDER.rglob("*.py") if "messages" not in path.parts)

RELEASES_MAY_BE_NAMED = (
    "protocol/releases/",
    "protocol/api_versions.py",
    "protocol/feature_levels.py",
    "authorizer/acl_rules.py",
    "authorizer/acl_tool_releases.py",
    "authorizer/requirements/",
    "schemas/",
    "shim/control/openapi.py",  # OpenAPI's version looks like a release of Kafka
)

MAY_CATCH_EVERYTHING = (
    "shim/dispatching/dispatcher.py",
    "testing/pytest_plugin.py",  # an exception in a hook would end the user's session
)

TEXT_SUFFIXES = (".py", ".md", ".toml", ".yml", ".yaml", ".go", ".java")

DOCSTRING = re.compile(r'(#.*\n)*"""\S')

RELEASE_LITERAL = re.compile(r"(?:0\.11|[1-4]\.\d{1,2})(?:\.\d+)?")


def relative(path: Path) -> str:
    """Return the path in the package, or in the repository."""
    folder = SOURCE_FOLDER if path.is_relative_to(SOURCE_FOLDER) else ROOT
    return path.relative_to(folder).as_posix()


@cache
def read(path: Path) -> str:
    return path.read_text()


def tracked() -> list[str]:
    """Return the files of the repository."""
    return subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.splitlines()


def check(offenders: Iterable[str]) -> None:
    """Fail with all offenders, each on a line `file:line what`."""
    listed = list(offenders)
    assert not listed, "\n".join(["", *listed])


def test_every_module_has_a_docstring() -> None:
    check(
        f"{relative(path)}:1 has no docstring"
        for path in SOURCES
        if not DOCSTRING.match(read(path))
    )


def test_releases_are_named_in_their_places_only() -> None:
    check(
        f"{relative(path)}:{node.lineno} names the release {node.value!r}"
        for path in SOURCES
        if not relative(path).startswith(RELEASES_MAY_BE_NAMED)
        and RELEASE_LITERAL.search(read(path))
        for node in ast.walk(ast.parse(read(path)))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and RELEASE_LITERAL.fullmatch(node.value)
    )


def test_only_two_modules_catch_every_exception() -> None:
    check(
        f"{relative(path)}:{number} catches every exception"
        for path in SOURCES
        if relative(path) not in MAY_CATCH_EVERYTHING
        for number, line in enumerate(read(path).splitlines(), 1)
        if "except Exception" in line
    )


def test_handlers_have_their_two_functions_and_begin_with_their_key() -> None:
    from kafka_shim.shim.apis import ALWAYS_REJECTED, APIS_WITH_HANDLER, import_handler
    from kafka_shim.shim.handlers import always_rejected

    for key in APIS_WITH_HANDLER:
        module = import_handler(key)
        assert callable(module.handle), key
        assert callable(module.error_response), key
        text = f"{key.value} {key.wire_name}"
        if key in ALWAYS_REJECTED:
            assert text in (always_rejected.__doc__ or ""), key
        else:
            assert (module.__doc__ or "").startswith(text), key


def test_apis_are_listed_by_their_keys() -> None:
    from kafka_shim.shim.apis import APIS_WITH_HANDLER

    assert list(APIS_WITH_HANDLER) == sorted(set(APIS_WITH_HANDLER))


def test_every_handler_file_is_served() -> None:
    from kafka_shim.shim.apis import ALWAYS_REJECTED, APIS_WITH_HANDLER
    from kafka_shim.shim.handlers import always_rejected

    folder = SOURCE_FOLDER / "shim" / "handlers"
    files = {path.stem for path in folder.glob("*.py")} - {"__init__", "always_rejected"}
    assert files == {key.name.lower() for key in {*APIS_WITH_HANDLER} - ALWAYS_REJECTED}
    assert always_rejected.HANDLERS.keys() == ALWAYS_REJECTED


def test_no_machine_paths_or_unfinished_places() -> None:
    unwanted = re.compile(
        "TO" + "DO|FIX" + "ME|XX" + r"X\b|NotImplemented" + r"Error|(?<![\w.~])/(?:work|root|farm)/"
    )
    texts = {name: read(ROOT / name) for name in tracked() if name.endswith(TEXT_SUFFIXES)}
    check(
        f"{name}:{text.count(chr(10), 0, found.start()) + 1} has {found[0]!r}"
        for name, text in texts.items()
        for found in unwanted.finditer(text)
    )


def test_docstrings_name_errors_in_one_form() -> None:
    """`Raise KeyError if ...`, not `; KeyError if ...`; predicates begin with `Return whether`."""
    check(
        f"{relative(path)}:{node.lineno}: {text.splitlines()[0]}"
        for path in SOURCES
        for node in ast.walk(ast.parse(read(path)))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (text := ast.get_docstring(node))
        and re.search(r";\s+(raises )?[A-Z]\w*Error\b|^Whether\b", text)
    )
