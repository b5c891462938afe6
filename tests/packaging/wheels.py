"""Which platforms have wheels of everything that a plain install needs, as pip resolves it.

`python -m tests.packaging.wheels` prints the table of docs/start/install.md. It asks the
package index.
"""

import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]
_MACOS: Final = range(11, 16)
PLATFORMS: Final[Mapping[str, tuple[str, ...]]] = {
    "Linux (glibc), x86-64": tuple(f"manylinux{v}_x86_64" for v in ("2014", "_2_17", "_2_28")),
    "Linux (glibc), arm64": tuple(f"manylinux{v}_aarch64" for v in ("2014", "_2_17", "_2_28")),
    "Alpine (musl), x86-64": ("musllinux_1_1_x86_64", "musllinux_1_2_x86_64"),
    "Alpine (musl), arm64": ("musllinux_1_1_aarch64", "musllinux_1_2_aarch64"),
    "macOS, Intel": (
        "macosx_10_9_x86_64", "macosx_10_13_x86_64", *(f"macosx_{v}_0_x86_64" for v in _MACOS),
    ),
    "macOS, Apple silicon": tuple(f"macosx_{v}_0_arm64" for v in _MACOS),
    "Windows, x86-64": ("win_amd64",),
    "Windows, arm64": ("win_arm64",),
}  # fmt: skip
"""Platforms and the tags that pip accepts there."""
PYTHONS: Final = ("3.11", "3.12", "3.13", "3.14", "3.14t", "3.15")
"""Releases of Python; `t` is free-threaded."""


class Target(NamedTuple):
    """A platform of PLATFORMS and a release of PYTHONS."""

    platform: str
    python: str


def plain_requirements() -> list[str]:
    """Return the requirements of an install without extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return list(project["dependencies"])


def have_wheels(requirements: Iterable[str], target: Target) -> bool:
    """Return whether pip finds a wheel of each requirement, and of what it requires."""
    release = target.python.rstrip("t")
    abi = f"cp{target.python.replace('.', '')}"
    tags = [word for tag in PLATFORMS[target.platform] for word in ("--platform", tag)]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
             "--dry-run", "--ignore-installed", "--only-binary", ":all:", "--target", folder,
             "--implementation", "cp", "--python-version", release, *tags,
             "--abi", abi, "--abi", "abi3", "--abi", "none", *requirements],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    if done.returncode and "No matching distribution" not in done.stderr:
        raise RuntimeError(f"pip failed: {done.stderr}")
    return done.returncode == 0


def without_wheels(requirements: list[str], target: Target) -> list[str]:
    """Return the requirements that pip would build from their sources."""
    if have_wheels(requirements, target):
        return []
    return [each for each in requirements if not have_wheels([each], target)]


def table() -> Iterator[str]:
    """Yield the lines of a Markdown table: platforms, releases of Python, what lacks a wheel."""
    requirements = plain_requirements()
    targets = [Target(platform, python) for platform in PLATFORMS for python in PYTHONS]
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda each: without_wheels(requirements, each), targets)
    missing = dict(zip(targets, found, strict=True))
    yield "| | " + " | ".join(python.replace("t", ", free-threaded") for python in PYTHONS) + " |"
    yield "|---|" + "---|" * len(PYTHONS)
    for platform in PLATFORMS:
        cells = (missing[Target(platform, python)] for python in PYTHONS)
        names = (", ".join(each.partition(">")[0] for each in cell) for cell in cells)
        yield (
            f"| {platform} | " + " | ".join(f"no {text}" if text else "✓" for text in names) + " |"
        )


if __name__ == "__main__":
    sys.stdout.write("\n".join((*table(), "")))
