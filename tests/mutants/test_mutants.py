"""Each planted bug fits to the package, and its checks exist; `tests.mutants` runs them all."""

from fnmatch import fnmatchcase
from pathlib import Path

import pytest

import kafka_shim
from kafka_shim.conformance.cases import all_cases
from tests.mutants import client_mutants
from tests.mutants.mutant import Mutant, MutantError, plant_bug, read_mutants
from tests.recordings.vectors import FOLDER

PACKAGES = (*client_mutants.PACKAGES, "shim")


def folder_of(package: str) -> Path:
    if package != "shim":
        return client_mutants.package_folder(package)
    assert kafka_shim.__file__ is not None
    return Path(kafka_shim.__file__).parent


@pytest.mark.parametrize("package", PACKAGES)
def test_each_bug_can_be_planted_once(package: str) -> None:
    folder = folder_of(package)
    for mutant in read_mutants(package):
        text = (folder / mutant.file).read_text(encoding="utf-8")
        assert text.count(mutant.old) == 1, mutant.name
        assert mutant.new != mutant.old, mutant.name


@pytest.mark.parametrize("package", PACKAGES)
def test_checks_of_each_bug_exist(package: str) -> None:
    ids = [case.id for case in all_cases()]
    for mutant in read_mutants(package):
        for pattern in mutant.cases:
            if package == "shim":
                assert (FOLDER / pattern).is_file(), mutant.name
            else:
                assert any(fnmatchcase(each, pattern) for each in ids), mutant.name


def test_there_are_sixty_bugs_with_different_names() -> None:
    names = [(package, each.name) for package in PACKAGES for each in read_mutants(package)]
    assert len(set(names)) == len(names) >= 60


def test_a_bug_that_does_not_fit_is_an_error(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "code.py").write_text("a = 1\na = 1\n")
    mutant = Mutant("twice", "code.py", "a = 1", "a = 2", ("*",))
    with pytest.raises(MutantError, match=r"its text occurs 2 times in code\.py"):
        plant_bug(mutant, package, tmp_path / "copy")


def test_a_bug_is_planted_into_a_copy(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "code.py").write_text("a = 1\n")
    mutant = Mutant("once", "code.py", "a = 1", "a = 2", ("*",))
    folder = plant_bug(mutant, package, tmp_path / "copy")
    assert (folder / "package" / "code.py").read_text() == "a = 2\n"
    assert (package / "code.py").read_text() == "a = 1\n"


@pytest.mark.client
def test_a_bug_is_found_by_the_case_about_it() -> None:
    [mutant] = [each for each in read_mutants("aiokafka") if each.name.startswith("acks=1")]
    diagnosis = client_mutants.diagnosis_or_none("aiokafka", mutant)
    assert diagnosis is not None
    assert diagnosis.startswith("kips.idempotence.acks-conflict: expected ")
