"""`python -m tests.mutants [PACKAGE ...]`: plant bugs, and fail if one is not found."""

import argparse
import sys
from fnmatch import fnmatchcase

from tests.mutants import client_mutants, shim_mutants
from tests.mutants.mutant import Mutant, MutantError, read_mutants

SHIM = "shim"
_TEXT_MAX = 300


def report(*lines: str) -> None:
    for line in lines:
        sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    packages = (*client_mutants.PACKAGES, SHIM)
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help=f"of {', '.join(packages)}")
    parser.add_argument("--name", default="*", metavar="PATTERN", help="plant only these bugs")
    options = parser.parse_args()
    surviving: list[str] = []
    total = 0
    for package in options.packages or packages:
        mutants = [each for each in read_mutants(package) if fnmatchcase(each.name, options.name)]
        total += len(mutants)
        surviving += _surviving_mutants(package, mutants)
    report(
        f"{total} bugs planted, {len(surviving)} not found", *(f"  {each}" for each in surviving)
    )
    return 1 if surviving else 0


def _surviving_mutants(package: str, mutants: list[Mutant]) -> list[str]:
    """Return the bugs that nothing finds; print the diagnosis of each."""
    surviving = []
    for mutant in mutants:
        try:
            diagnosis = (
                shim_mutants.diagnosis_or_none(mutant)
                if package == SHIM
                else client_mutants.diagnosis_or_none(package, mutant)
            )
        except MutantError as error:
            diagnosis, text = None, str(error)
        else:
            text = diagnosis or "SURVIVED"
        report(f"{package}: {mutant.name}", f"  {text[:_TEXT_MAX]}")
        if diagnosis is None:
            surviving.append(f"{package}: {mutant.name}")
    return surviving


if __name__ == "__main__":
    sys.exit(main())
