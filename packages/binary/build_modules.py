"""Modules that PyInstaller stores in the single file: extension modules as data, and licenses."""

import lzma
import marshal
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Mapping
from importlib import metadata
from pathlib import Path

from kafka_shim.schemas import schemas_folder

Entry = tuple[str, str, str]
"""PyInstaller's: the name in the file, the path of the source, and a type."""

LIBRARIES = {"_ctypes": r"libffi\.", "_sqlite3": r"libsqlite3\.", "re2._re2": r"libstdc\+\+\."}
"""Large libraries that one extension module needs."""
_BOOTLOADER = ("_struct", "zlib")
"""Extension modules that PyInstaller's own modules import."""
_DECOMPRESSION = "_lzma"
"""The extension module that on_demand.py reads the others with."""


def module_name(entry_name: str) -> str:
    """Return the module of an extension: `python3.11/lib-dynload/_ssl.cpython-311.so` is `_ssl`."""
    path = re.sub(r"^.*lib-dynload/", "", entry_name.replace("\\", "/"))
    return path.partition(".")[0].replace("/", ".")


def modules_of_start(folder: Path) -> dict[str, str]:
    """Return the modules that commands import which are to start fast, with their sources."""
    script = Path(__file__).with_name("start_commands.py")
    subprocess.run([sys.executable, script, folder], check=True, stdout=subprocess.DEVNULL)
    lines = (folder / "imported.txt").read_text().splitlines()
    return dict(line.split("\t") for line in lines)


def on_demand_files(
    binaries: Iterable[Entry], start: Mapping[str, str]
) -> tuple[list[Entry], dict[str, list[Entry]]]:
    """Return the files of each start, and for other extension modules the files that they need."""
    kept, on_demand = [], {}
    binaries = list(binaries)
    for entry in binaries:
        module = module_name(entry[0])
        if entry[2] == "EXTENSION" and module not in {*start, *_BOOTLOADER, _DECOMPRESSION}:
            on_demand[module] = [entry]
        else:
            kept.append(entry)
    for module, pattern in LIBRARIES.items():
        libraries = [entry for entry in kept if re.match(pattern, entry[0])]
        if module in on_demand:
            on_demand[module] = [*libraries, *on_demand[module]]
            kept = [entry for entry in kept if entry not in libraries]
    return kept, on_demand


def stripped(path: Path, folder: Path) -> bytes:
    """Return a library without symbols, where the platform has `strip`."""
    if sys.platform != "linux" or shutil.which("strip") is None:
        return path.read_bytes()
    copy = folder / path.name
    shutil.copyfile(path, copy)
    subprocess.run(["strip", "--strip-unneeded", copy], check=True)
    return copy.read_bytes()


def write_modules(folder: Path, on_demand: Mapping[str, list[Entry]], licenses: str) -> list[Entry]:
    """Write modules with the files and the licences; return them as entries for PyInstaller."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {"single_file_licenses": f"TEXT = {licenses!r}\n"}
    stored_in: dict[str, list[str]] = {}
    for module, entries in on_demand.items():
        for name, source, _ in entries:
            stored = f"on_demand_{re.sub(r'[^a-z0-9]+', '_', name.lower())}"
            content = stripped(Path(source), folder)
            texts[stored] = f"PATH = {name!r}\nCONTENT = {lzma.compress(content, preset=9)!r}\n"
            stored_in.setdefault(module, []).append(stored)
    texts["on_demand_index"] = f"STORED_IN = {stored_in!r}\n"
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    return [(name, str(folder / f"{name}.py"), "PYMODULE") for name in sorted(texts)]


def write_start_data(
    path: Path, start: Mapping[str, str], modules: Iterable[Entry], binaries: Iterable[Entry]
) -> tuple[list[Entry], list[Entry]]:
    """Write a script with modules and extension modules of a start; return the other entries."""
    modules, binaries = list(modules), list(binaries)
    chosen = [entry for entry in modules if start.get(entry[0], "").endswith(".py")]
    code = {
        name: _marshalled(name, Path(source))
        for name, source in start.items()
        if source.endswith(".py")
    }
    loaded = [entry for entry in binaries if not _is_needed_by_bootloader(entry, binaries)]
    files = {name: stripped(Path(source), path.parent) for name, source, _ in loaded}
    definitions = {
        f"kafka_shim/schemas/kafka/{file.name}": file.read_bytes()
        for file in (schemas_folder() / "kafka").glob("*.json")
    }
    data = {"START_MODULES": code, "START_FILES": files, "MESSAGE_DEFINITIONS": definitions}
    path.write_text("".join(f"{name} = {value!r}\n" for name, value in data.items()))
    return (
        [entry for entry in modules if entry not in chosen],
        [entry for entry in binaries if entry not in loaded],
    )


def _marshalled(name: str, source: Path) -> tuple[bool, bytes]:
    is_package = source.name == "__init__.py"
    shown = name.replace(".", "/") + ("/__init__.py" if is_package else ".py")
    return is_package, marshal.dumps(compile(source.read_bytes(), shown, "exec", dont_inherit=True))


def _is_needed_by_bootloader(entry: Entry, binaries: Iterable[Entry]) -> bool:
    """Return whether the library is Python's or one that Python needs to start."""
    if sys.platform != "linux":
        return True
    if "lib-dynload" not in entry[0] and entry[2] == "EXTENSION":
        return False
    [python] = [source for name, source, _ in binaries if name.startswith("libpython")]
    done = subprocess.run(["ldd", python], capture_output=True, text=True, check=True)
    needed = [python, *(line.split()[0] for line in done.stdout.splitlines())]
    return Path(entry[0]).name in {Path(each).name for each in needed} or (
        module_name(entry[0]) in _BOOTLOADER
    )


def license_texts(modules: Iterable[Entry], binaries: Iterable[Entry]) -> str:
    """Return the licences of kafka-shim, of Python and of all that the single file contains."""
    by_package = metadata.packages_distributions()
    tops = {name.partition(".")[0] for name, _, _ in modules}
    names = {each for top in tops for each in by_package.get(top, ())} - {"kafka-shim"}
    parts = [_of_distribution(name) for name in ("kafka-shim", *sorted(names, key=str.lower))]
    python = Path(sysconfig.get_path("stdlib")) / "LICENSE.txt"
    copies = [path for path in (python, Path(sys.base_prefix) / "LICENSE.txt") if path.exists()]
    parts += [_part(f"Python {sys.version.split()[0]}", [path.read_text() for path in copies[:1]])]
    parts += [_of_debian_package(name) for name in sorted(_debian_packages(binaries))]
    return "\n".join(parts)


def _part(title: str, texts: Iterable[str]) -> str:
    return f"{'=' * 80}\n{title}\n{'=' * 80}\n\n" + "\n".join(texts)


def _of_distribution(name: str) -> str:
    found = metadata.distribution(name)
    licence = found.metadata.get("License-Expression") or found.metadata.get("License") or ""
    files = [
        file
        for file in found.files or ()
        if ".dist-info" in str(file) and re.search("LICEN[CS]E|NOTICE|COPYING|AUTHORS", file.name)
    ]
    title = f"{name} {found.version} {licence.splitlines()[0] if licence else ''}".strip()
    return _part(title, [file.locate().read_text(errors="replace") for file in files])


def _debian_packages(binaries: Iterable[Entry]) -> set[str]:
    """Return the packages that the system's libraries come from, where Debian's dpkg knows them."""
    if shutil.which("dpkg-query") is None:
        return set()
    paths = [str(Path(source).resolve()) for _, source, kind in binaries if kind == "BINARY"]
    paths += [path.removeprefix("/usr") for path in paths]
    done = subprocess.run(
        ["dpkg-query", "--search", *paths], capture_output=True, text=True, check=False
    )
    return {line.partition(":")[0] for line in done.stdout.splitlines()}


def _of_debian_package(name: str) -> str:
    path = Path("/usr/share/doc") / name / "copyright"
    return _part(f"{name} (a library of the system)", [path.read_text(errors="replace")])
