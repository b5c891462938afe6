"""Fixtures for what pages assume: the broker of `make run`, and a folder for commands."""

import subprocess
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from tests.docs.demo_broker import Demo, demo_broker, replacements
from tests.docs.shell import Shell
from tests.docs.shown import ROOT


@pytest.fixture(scope="module")
def demo() -> Iterator[Demo]:
    """Start the broker of `make run` on free ports."""
    with demo_broker() as started:
        yield started


@pytest.fixture
def shell(demo: Demo, tmp_path: Path) -> Shell:
    return Shell(tmp_path, replacements(demo.addresses))


@pytest.fixture(scope="session")
def hooks() -> Any:
    """Return the module with the hooks of the site, which mkdocs loads by its path."""
    spec = spec_from_file_location("site_hooks", ROOT / "docs" / "site" / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the site, as `make docs` builds it."""
    folder = tmp_path_factory.mktemp("site")
    command = ["make", "-C", str(ROOT), "docs", f"SITE_DIR={folder}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder
