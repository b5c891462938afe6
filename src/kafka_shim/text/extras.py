"""What is installed, the package or the single file, and how to install an extra."""

import re
import sys
from functools import cache
from importlib.util import find_spec

_SPARK_MODULES = ("pyspark", "pyarrow", "pandas")
_MODULES = {
    "control": ("starlette", "uvicorn", "prometheus_client"),
    "mcp": ("mcp",),
    "pipeline": _SPARK_MODULES,
    "local": ("duckdb", "pyarrow"),
    "connect": (*_SPARK_MODULES, "grpc", "grpc_status"),
}


def is_installed(extra: str) -> bool:
    """Return whether the modules of an extra can be imported, without importing them."""
    return all(find_spec(name) is not None for name in _MODULES[extra])


def requires(feature: str, extra: str) -> str:
    """Return the error message of a feature whose extra is not installed."""
    if IS_SINGLE_FILE:
        return (
            f"{feature} requires the extra `{extra}`, which the single file does not contain;"
            f" install the Python package: pip install 'kafka-shim[{extra}]'"
        )
    command = install_command(extra)
    return f"{feature} requires the extra `{extra}`, which is not installed; run: {command}"


@cache
def install_command(extra: str) -> str:
    """Return the command that adds an extra to the running Python.

    It names the packages of the extra: `kafka-shim[extra]` would be another release, or unknown,
    where this one came from a wheel file, a checkout or an image.
    """
    from pathlib import Path  # noqa: PLC0415 - as below

    wanted = _extra_requirements(extra)
    sources = Path(__file__).resolve().parents[3]
    words = " ".join(f'"{package}"' for package in wanted) if wanted else f'-e "{sources}[{extra}]"'
    return f"{_program(sys.executable)} -m pip install {words}"


def _extra_requirements(extra: str) -> list[str]:
    """Return the requirements of an extra, without markers; none for sources not installed."""
    from importlib import metadata  # noqa: PLC0415 - takes 50 ms, and only errors need it

    try:
        found = metadata.requires("kafka-shim") or []
    except metadata.PackageNotFoundError:
        return []
    parts = (requirement.partition(";") for requirement in found)
    names = [
        name.strip()
        for name, _, marker in parts
        if f"extra == '{extra}'" in _with_single_quotes(marker)
    ]
    return [package for name in names for package in _expand_requirement(name)]


def _expand_requirement(requirement: str) -> list[str]:
    """Return a requirement, or the packages of the extra that it names: `kafka-shim[control]`."""
    included = re.fullmatch(r"kafka[-_.]shim\[(\w+)\]", requirement)
    return [requirement] if included is None else _extra_requirements(included[1])


def _with_single_quotes(marker: str) -> str:
    """Return a marker with single quotes: build tools write either."""
    return marker.replace('"', "'")


def _program(path: str) -> str:
    return f'"{path}"' if " " in path else path


IS_SINGLE_FILE: bool = getattr(sys, "frozen", False)
"""Set by PyInstaller, which makes the single file (packages/binary)."""
HOME = "https://github.com/kafka-shim/kafka-shim"


def kafka_shim_command() -> list[str]:
    """Return the words that start `kafka-shim` again, without modules of the current folder."""
    return [sys.executable] if IS_SINGLE_FILE else [sys.executable, "-P", "-m", "kafka_shim"]


def page_address(path: str) -> str:
    """Return the web address of a page, such as `docs/README.md`, which no wheel contains."""
    return f"{HOME}/blob/main/{path}"
