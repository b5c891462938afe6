"""The built wheel in a new virtual environment, which borrows other packages from this one."""

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import confluent_kafka
import hatchling
import msgspec
import pytest

from tests.packaging.installed import ROOT, Built, Environment, install, run, works


def copy_without_links(folder: Path) -> None:
    """Copy the repository as Git for Windows checks it out: a link is a file with its target."""
    listed = ("git", "ls-files", "-z")
    names = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for source in (ROOT / name for name in names.rstrip("\0").split("\0")):
        target = folder / source.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            target.write_text(str(source.readlink()))
        elif source.exists():
            shutil.copyfile(source, target)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("built")
    checkout = folder / "checkout"
    copy_without_links(checkout)
    build = (sys.executable, "-m", "hatchling", "build")
    works(run(*build, "-d", folder / "dist", cwd=checkout))
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
