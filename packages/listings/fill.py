"""Fill the templates in this folder, by which people find kafka-shim where they look for packages.

`python packages/listings/fill.py FILES OUTPUT` writes them to OUTPUT with the version of the
project, and the checksums of the release's files in FILES: the sdist and the single files. These
are pytest-kafka-shim for pytest's list of plugins, a recipe for conda-forge, a formula for a tap of
Homebrew, a page for the modules of Testcontainers, an entry for the catalogue of SchemaStore, and a
component for GitLab.
"""

import hashlib
import re
import sys
import tomllib
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
PROJECT: Final = FOLDER.parents[1] / "pyproject.toml"
SUFFIX: Final = ".in"
_CHECKSUM: Final = re.compile(r"@SHA256 (\S+)@")


def fill(files: Path, output: Path, version: str) -> list[Path]:
    """Write the filled templates, and return them. Raise FileNotFoundError if a file is missing."""

    def checksum(name: re.Match[str]) -> str:
        return hashlib.sha256((files / name[1]).read_bytes()).hexdigest()

    filled = []
    for template in sorted(FOLDER.rglob(f"*{SUFFIX}")):
        path = output / template.relative_to(FOLDER).with_suffix("")
        path.parent.mkdir(parents=True, exist_ok=True)
        text = template.read_text(encoding="utf-8").replace("@VERSION@", version)
        path.write_text(_CHECKSUM.sub(checksum, text), encoding="utf-8")
        filled.append(path)
    return filled


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("expected two folders: one with the files of the release, one to write to")
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    for path in fill(Path(sys.argv[1]), Path(sys.argv[2]), project["version"]):
        print(path)
