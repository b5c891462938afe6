"""CI and releases: workflows name existing files, scripts work, the lock is complete."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from kafka_shim.cli import COMMANDS, import_command_module
from kafka_shim.cli.command_parser import CommandParser, iter_commands
from tests.support.generated_files import outdated

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
LOCK = (ROOT / "requirements" / "ci.txt").read_text()
PINNED = ("test", "check", "build")
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def jobs(path: Path) -> dict[str, dict[str, Any]]:
    return dict(yaml.safe_load(path.read_text())["jobs"])


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in jobs(path).values() for step in job.get("steps", [])]


def program(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


# ------------------------------------------------------------------ workflows


def test_there_are_workflows_for_changes_nights_releases_and_the_site() -> None:
    names = [path.name for path in WORKFLOWS]
    assert names == ["ci.yml", "nightly.yml", "release.yml", "site.yml"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_names_in_a_workflow_exist(path: Path) -> None:
    rules = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    commands = "\n".join(step["run"] for step in steps(path) if "run" in step)
    targets = re.findall(r"\bmake ([a-z-]+)", commands)
    assert targets
    assert set(targets) <= rules
    for script in re.findall(r"\.ci/[\w-]+", commands):
        assert os.access(ROOT / script, os.X_OK), script
    for job in jobs(path).values():
        needed = job.get("needs", [])
        assert {needed} if isinstance(needed, str) else set(needed) <= set(jobs(path))
        if "uses" in job:
            assert (ROOT / job["uses"]).is_file()


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_by_major_version(path: Path) -> None:
    for step in steps(path):
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w-]+@(v\d+|release/v\d+)", step["uses"])


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_only_jobs_that_publish_may_write(path: Path) -> None:
    assert yaml.safe_load(path.read_text())["permissions"] == {"contents": "read"}
    writers = {name for name, job in jobs(path).items() if "permissions" in job}
    allowed = {
        "nightly.yml": {"policy-decisions"},
        "release.yml": {"publish", "files", "listings", "image", "npm", "maven", "go"},
        "site.yml": {"publish"},
    }
    assert writers == allowed.get(path.name, set())


def test_every_python_of_the_classifiers_is_tested() -> None:
    named = {
        found[1]
        for line in PYPROJECT["project"]["classifiers"]
        if (found := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", line))
    }
    assert named == {"3.11", "3.12", "3.13", "3.14"}
    matrices = [
        set(job["strategy"]["matrix"]["python"])
        for path in WORKFLOWS
        for job in jobs(path).values()
        if "python" in job.get("strategy", {}).get("matrix", {})
    ]
    script = (ROOT / ".ci" / "test-all").read_text()
    [of_script] = re.findall(r'^PYTHONS="(.+)"$', script, re.MULTILINE)
    assert [*matrices, set(of_script.split())] == [named] * 3


# ------------------------------------------------------------------ scripts

COMMAND = re.compile(r"(?:\$shim|kafka-shim) ([a-z][\w-]+)(.*?)(?= -- |[|&>\n])")


def options_of(command: str) -> set[str]:
    """Return the options of a command and of its sub-commands."""
    parser = CommandParser(prog=command)
    import_command_module(command).add_arguments(parser)
    return {
        option
        for each in (parser, *iter_commands(parser))
        for option in each._option_string_actions
    }


def test_scripts_use_options_that_commands_have() -> None:
    """Most scripts run in a release only."""
    used = [
        (path.name, command, option)
        for path in (ROOT / ".ci").iterdir()
        for command, words in COMMAND.findall(path.read_text().replace("\\\n", " "))
        if command in COMMANDS
        for option in re.findall(r"(?<=\s)--[a-z][\w-]*", words)
    ]
    assert len(used) >= 15
    assert [use for use in used if use[2] not in options_of(use[1])] == []


@pytest.mark.parametrize("path", sorted((ROOT / ".ci").iterdir()), ids=lambda path: path.name)
def test_a_script_can_be_read_by_bash(path: Path) -> None:
    assert subprocess.run(["bash", "-n", str(path)], check=False).returncode == 0


@pytest.mark.parametrize(
    ("report", "code", "expected", "line"),
    [
        ("No known vulnerabilities found", 0, 0, "audit: no known vulnerabilities"),
        ("Found 1 known vulnerability in 1 package", 1, 1, "Found 1 known vulnerability"),
        ("ConnectionError: no route", 1, 2, "(ConnectionError: no route); run it where"),
        ("ERROR: x: Dependency not found and could not be audited", 1, 2, "could not be audited"),
    ],
)
def test_an_audit_distinguishes_safe_from_unchecked(
    report: str, code: int, expected: int, line: str, tmp_path: Path
) -> None:
    program(tmp_path, "pip-audit", f"#!/bin/sh\necho '{report}'\nexit {code}\n")
    done = run("audit", "requirements/ci.txt", first=tmp_path)
    assert done.returncode == expected
    assert line in done.stdout + done.stderr


@pytest.mark.parametrize(("test", "code"), [("true", 0), ("false", 1)])
def test_all_installed_pythons_are_tested(test: str, code: int, tmp_path: Path) -> None:
    program(tmp_path, "make", f'#!/bin/sh\necho "$@"\n{test}\n')
    release = f"3.{sys.version_info.minor}"
    (tmp_path / f"python{release}").symlink_to(sys.executable)
    done = run("test-all", release, "3.99", first=tmp_path, MAKE="make")
    assert done.returncode == code
    assert f"VENV=.venv-{release} PYTHON={tmp_path}/python{release} test" in done.stdout
    assert done.stdout.splitlines()[-2:] == [
        f"{release}  {'FAILED' if code else 'passed'}",
        "3.99  missing: no python3.99 on the PATH, of pyenv or of uv",
    ]


def test_it_fails_without_any_python(tmp_path: Path) -> None:
    done = run("test-all", "3.99", first=tmp_path)
    assert done.returncode == 1
    assert "none of these releases of Python is here" in done.stderr


@pytest.mark.parametrize(
    ("tag", "heading", "said"),
    [
        ("v1.2.3", "## Unreleased\n\n## 1.2.3 - 2026-01-31\n- One\n", ""),
        ("v1.2.4", "## 1.2.3 - 2026-01-31\n", "the tag is v1.2.4"),
        ("v1.2.3", "## 1.2.3\n", "lacks a line '## 1.2.3 - YYYY-MM-DD'"),
        ("v1.2.3", "## Unreleased\n- Two\n\n## 1.2.3 - 2026-01-31\n", "entries under Unreleased"),
    ],
)
def test_a_tag_fits_the_version_and_the_changelog(
    tag: str, heading: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / ".ci").mkdir()
    script = shutil.copy(ROOT / ".ci" / "check-release", tmp_path / ".ci")
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.2.3"\n')
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n{heading}")
    done = subprocess.run([script, tag], capture_output=True, text=True, check=False)
    assert done.returncode == (1 if said else 0)
    assert said in done.stderr


def run(
    script: str, *words: str, first: Path, **variables: str
) -> subprocess.CompletedProcess[str]:
    path = f"{first}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [str(ROOT / ".ci" / script), *words],
        cwd=ROOT, env=os.environ | variables | {"PATH": path}, capture_output=True, text=True,
        check=False, timeout=60,
    )  # fmt: skip


# ------------------------------------------------------------------ the image


DOCKERFILE = (ROOT / "Dockerfile").read_text()


def test_the_base_image_is_pinned_by_digest() -> None:
    [base] = re.findall(r"^ARG BASE=(.+)$", DOCKERFILE, re.MULTILINE)
    assert re.fullmatch(r"python:3\.\d+\.\d+-slim-\w+@sha256:[0-9a-f]{64}", base)
    assert set(re.findall(r"^FROM (\S+) AS \w+$", DOCKERFILE, re.MULTILINE)) == {"${BASE}"}


def test_the_image_installs_locked_packages_and_no_others() -> None:
    installs = re.findall(r"pip (?:install|wheel) ([^&\n\\]+)", DOCKERFILE)
    locked = [words for words in installs if "--require-hashes --requirement /" in words]
    assert [words.split("/")[-1].strip() for words in locked] == [
        "build.txt",
        "spark.txt",
        "image.txt",
    ]
    assert all("--no-deps" in words for words in installs if words not in locked)


def test_the_build_context_has_the_package_and_neither_tests_nor_pages() -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    patterns = [line for line in lines if line and not line.startswith("#")]
    included = {pattern[1:] for pattern in patterns if pattern.startswith("!")}
    assert patterns[0] == "*"
    assert all((ROOT / path).exists() for path in included)
    copied = re.findall(r"^COPY (?!--from)(\S+) ", DOCKERFILE, re.MULTILINE)
    sources = {
        *PYPROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["only-include"],
        *PYPROJECT["project"]["license-files"],
        *(path for path in copied if path != "."),
        "pyproject.toml",
    }
    needed = {
        max((top for top in included if path.startswith(top)), default=path) for path in sources
    }
    assert needed == included


# ------------------------------------------------------------------ the lock


def pinned_versions(lock: str) -> dict[str, set[str]]:
    pins: dict[str, set[str]] = {}
    for name, version in re.findall(r"^([\w.-]+)==(\S+)", lock, re.MULTILINE):
        pins.setdefault(canonicalize_name(name), set()).add(version)
    return pins


@pytest.mark.parametrize("part", ["binary", "build", "image", "spark"])
def test_a_part_of_the_lock_has_its_versions_and_all_requirements(part: str) -> None:
    pins = pinned_versions((ROOT / "requirements" / "parts" / f"{part}.txt").read_text())
    whole = pinned_versions(LOCK)
    for name in pins.keys() & whole.keys():
        assert pins[name] <= whole[name], (name, outdated(f"requirements/parts/{part}.txt"))
    makefile = (ROOT / "Makefile").read_text()
    extras = {
        name: [each for each in words.split() if not each.startswith("$")]
        for name, words in re.findall(r"^(IMAGE|BINARY)_EXTRAS := (.+)$", makefile, re.MULTILINE)
    }
    image, groups = extras["IMAGE"], PYPROJECT["dependency-groups"]
    optional = PYPROJECT["project"]["optional-dependencies"]
    names, more = {
        "binary": ([*image, *extras["BINARY"]], [*groups["binary"], *groups["build"]]),
        "build": ([], groups["build"]),
        "image": (image, []),
        "spark": (["pipeline"], []),
    }[part]
    wanted = [*more, *(line for name in names for line in optional[name])]
    if names:
        wanted += PYPROJECT["project"]["dependencies"]
    for requirement in map(Requirement, wanted):
        versions = pins.get(canonicalize_name(requirement.name), set())
        assert versions, (requirement, outdated(f"requirements/parts/{part}.txt"))
        assert all(map(requirement.specifier.contains, versions)), requirement


def test_the_changelog_has_a_section_of_this_version() -> None:
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[:2] == ["Unreleased", PYPROJECT["project"]["version"]]


def test_the_lock_pins_all_requirements() -> None:
    project, groups = PYPROJECT["project"], PYPROJECT["dependency-groups"]
    wanted = list(project["dependencies"])
    for lines in (*project["optional-dependencies"].values(), *map(groups.get, PINNED)):
        wanted += lines
    pins = pinned_versions(LOCK)
    for requirement in map(Requirement, wanted):
        name = canonicalize_name(requirement.name)
        if name != "kafka-shim":
            assert pins.get(name), (requirement, outdated("requirements/ci.txt"))
            fits = all(map(requirement.specifier.contains, pins[name]))
            assert fits, (requirement, outdated("requirements/ci.txt"))


@pytest.mark.parametrize(
    "path", sorted((ROOT / "requirements").rglob("*.txt")), ids=lambda path: path.stem
)
def test_every_pin_has_a_hash_and_no_address(path: Path) -> None:
    lock = path.read_text()
    pins = re.split(r"^(?=[\w.-]+==)", lock, flags=re.MULTILINE)[1:]
    assert len(pins) > (50 if path.stem == "ci" else 3)
    assert all("--hash=sha256:" in pin for pin in pins)
    assert "://" not in lock
    assert "index" not in lock
