"""The packages for other languages, built from this repository and used by a project."""

import shutil
import subprocess
import sys
from pathlib import Path

from tests.clients.toolchains import CACHE, build, need

PACKAGES = Path(__file__).parents[2] / "packages"
GO_MODULE = "github.com/kafka-shim/kafka-shim/packages/go"
PLATFORM = "linux-x86_64" if sys.platform == "linux" else "osx-aarch_64"


def use_module(project: Path) -> None:
    """Replace the Go module by that of this repository."""
    need("the Go module", "go")
    build(["go", "mod", "edit", "-replace", f"{GO_MODULE}={PACKAGES / 'go'}"], project)


def npm_tarball(folder: Path) -> Path:
    """Pack the npm package as it would be published."""
    need("the npm package", "npm")
    build(["npm", "pack", "--silent", "--pack-destination", str(folder)], PACKAGES / "npm")
    [packed] = folder.glob("kafka-shim-*.tgz")
    return packed


def use_npm_package(project: Path) -> None:
    """Install the npm package of this repository, with the project's other packages."""
    packed = npm_tarball(project.parent)
    build(["npm", "install", "--silent", "--no-audit", "--no-fund", str(packed)], project)


def install_jars(command: Path) -> Path:
    """Install the jars into a Maven repository of their own, with a command as the binary.

    Return this repository.
    """
    need("kafka-shim-junit5", "java", "mvn")
    repository, binaries = CACHE / "m2", command.parent / "binaries"
    packed = binaries / PLATFORM / "kafka-shim" / PLATFORM
    packed.parent.mkdir(parents=True)
    shutil.copy(command, packed)
    source = shutil.copytree(
        PACKAGES / "junit5", command.parent / "junit5", ignore=shutil.ignore_patterns("target")
    )
    maven = ["mvn", "-B", "-ntp", "-q", "-DskipTests", f"-Dbinaries={binaries}"]
    build([*maven, f"-Dmaven.repo.local={repository}", "install"], source)
    return repository


def run(
    command: list[str], folder: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a command; the caller judges its exit code."""
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False,
        timeout=600,
    )  # fmt: skip
