"""The built wheel in a new virtual environment, which borrows other packages from this one."""

import sys
import tarfile
from pathlib import Path

import confluent_kafka
import hatchling
import msgspec
import pytest

from tests.packaging.installed import ROOT, Built, Environment, install, run, works


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("built")
    build = (sys.executable, "-m", "hatchling", "build")
    works(run(*build, "-d", folder / "dist", cwd=ROOT))
    [sdist] = (folder / "dist").glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    unpacked = folder / sdist.name.removesuffix(".tar.gz")
    assert not [path for path in unpacked.rglob("*") if path.is_symlink()]
    works(run(*build, "-t", "wheel", "-d", folder / "again", cwd=unpacked))
    [wheel] = (folder / "dist").glob("*.whl")
    [again] = (folder / "again").glob("*.whl")
    return Built(wheel, sdist, again)


@pytest.fixture(scope="session")
def environment(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Install the wheel first, since borrowed packages may include an editable kafka-shim."""
    made = Environment(tmp_path_factory.mktemp("environment"))
    works(run(sys.executable, "-m", "venv", "--without-pip", made.folder, cwd=made.folder))
    install(made, str(built.wheel))
    borrowed = {
        Path(module.__file__ or "").parents[1]
        for module in (pytest, msgspec, confluent_kafka, hatchling)
    }
    lines = "".join(f"{folder}\n" for folder in sorted(borrowed))
    (made.site_packages / "borrowed.pth").write_text(lines)
    where = works(run(made.python, "-c", "import kafka_shim as k; print(k.__file__)", cwd=ROOT))
    assert Path(where.strip()).is_relative_to(made.site_packages), where
    return made
