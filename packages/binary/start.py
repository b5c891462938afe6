"""Entry point of the single file; it runs after the generated script start_data.py."""

# small modules in C: a start must not import threading and signal for every command
import _signal
import _thread
import os
import sys
import time

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


def wait_for_exit(launcher: int) -> None:
    """Return when PyInstaller's first process, which started this one, has ended."""
    import select  # noqa: PLC0415 - one of the files that were written

    try:
        descriptor = os.pidfd_open(launcher)
    except (AttributeError, OSError):  # macOS, or a sandbox without the call
        while os.getppid() == launcher:
            time.sleep(0.5)
    else:
        ended = select.poll()
        ended.register(descriptor, select.POLLIN)
        ended.poll()


def stop_with_launcher(launcher: int, main_thread: int) -> None:
    """Stop as if with SIGTERM when the launcher is killed: the user knows no other process."""
    wait_for_exit(launcher)
    if _signal.getsignal(_signal.SIGTERM) == _signal.SIG_DFL:
        remove_files()
    _signal.pthread_kill(main_thread, _signal.SIGTERM)


def remove_files() -> None:
    """Remove the unpacked files, as the launcher does when it lives."""
    import shutil  # noqa: PLC0415 - only after a kill

    shutil.rmtree(sys._MEIPASS, ignore_errors=True)


restore_environment()
write_start_files()
start_modules.install(sys._MEIPASS, START_MODULES, MESSAGE_DEFINITIONS)

import on_demand  # its imports are modules of the start

on_demand.install(sys._MEIPASS)

from kafka_shim.cli import main

sys.path += filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))  # own authorizers
if sys.platform == "win32":
    sys.exit(main())
launcher = os.getppid()
_thread.start_new_thread(stop_with_launcher, (launcher, _thread.get_ident()))
try:
    sys.exit(main())
finally:
    if os.getppid() != launcher:
        remove_files()
