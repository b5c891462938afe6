"""Entry point of the single file; it runs after the generated script start_data.py."""

import os
import sys

import start_modules

_LIBRARY_PATH = "LD_LIBRARY_PATH"


def restore_environment() -> None:
    """Give programs that kafka-shim starts the variables that it was itself started with."""
    original = os.environ.pop(f"{_LIBRARY_PATH}_ORIG", None)
    if original is not None:
        os.environ[_LIBRARY_PATH] = original
    elif os.environ.get(_LIBRARY_PATH) == sys._MEIPASS:
        del os.environ[_LIBRARY_PATH]
    for name in [name for name in os.environ if name.startswith("_PYI_")]:
        del os.environ[name]


def write_start_files() -> None:
    """Write the extension modules of a start: PyInstaller writes them in pieces of 4 KiB."""
    for name, content in START_FILES.items():
        path = os.path.join(sys._MEIPASS, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb", buffering=0) as file:
            file.write(content)
    START_FILES.clear()
    sys.path_importer_cache.clear()  # folders that did not exist before


restore_environment()
write_start_files()
start_modules.install(sys._MEIPASS, START_MODULES, MESSAGE_DEFINITIONS)

import on_demand  # its imports are modules of the start

on_demand.install(sys._MEIPASS)

from kafka_shim.shim.cli import main

sys.path += filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))  # own authorizers
sys.exit(main())
