"""The package as users install it, from each origin: `make release`."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.packaging import wheels
from tests.support.generated_files import outdated

ROOT = Path(__file__).parents[2]
TRY = ROOT / ".ci" / "try-install"

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]


def dist(kind: str) -> Path:
    found = [*(ROOT / "dist").glob(f"*{kind}")]
    if not found:
        pytest.skip("there is no package: run make package")
    [path] = found
    return path


def origins() -> dict[str, list[str]]:
    return {
        "wheel": [str(dist(".whl"))],
        "sdist": [str(dist(".tar.gz"))],
        "index": ["--find-links", str(ROOT / "dist"), "kafka-shim"],
        "checkout": [str(ROOT)],
        "editable": ["--editable", str(ROOT)],
    }


@pytest.mark.parametrize("origin", ["wheel", "sdist", "index", "checkout", "editable"])
def test_the_command_that_an_error_shows_works(origin: str) -> None:
    done = subprocess.run(
        [str(TRY), *origins()[origin]],
        env=os.environ | {"PYTHON": sys.executable}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "try-install: ok" in done.stdout


def test_the_wheel_has_one_package_and_the_licence() -> None:
    names = zipfile.ZipFile(dist(".whl")).namelist()
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith((".dist-info", ".data"))} == {"kafka_shim"}
    assert {"LICENSE", "NOTICE"} <= {Path(name).name for name in names}
    assert "kafka_shim/py.typed" in names
    assert "kafka_shim/shim/dispatching/dispatcher.py" in names


def test_the_sdist_has_files_in_place_of_links() -> None:
    with tarfile.open(dist(".tar.gz")) as archive:
        assert not [member.name for member in archive if member.issym() or member.islnk()]


def test_the_table_of_platforms_is_what_pip_finds() -> None:
    page = (ROOT / "docs" / "start" / "install.md").read_text()
    assert "\n".join(wheels.table()) in page, outdated("docs/start/install.md")


def test_pyyaml_needs_no_compiler(tmp_path: Path) -> None:
    """Where it has no wheel, pip builds it from its sources."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path], check=True)
    python = tmp_path / "bin" / "python"
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--no-binary", "PyYAML", "--no-cache-dir",
         next(each for each in wheels.plain_requirements() if each.startswith("PyYAML"))],
        env=os.environ | {"CC": "false", "CXX": "false"}, check=True,
    )  # fmt: skip
    code = "import yaml; print(yaml.__with_libyaml__, yaml.safe_load('a: [1]'))"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split(maxsplit=1) == ["False", "{'a': [1]}\n"]
