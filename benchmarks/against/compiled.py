"""The shim with the modules that take most of the time compiled by mypyc.

A wheel of compiled modules is not published, since it gains nothing. On two cores (AMD EPYC), over
the 17 kinds of different requests, the compiled shim does x1.01 as many requests with 64 in flight,
and x0.95 with one. A dispatch without sockets takes x0.91 (Metadata of two) to x0.97
(OffsetCommit) of the instructions. CPython 3.11 caches lookups of attributes and globals in its
bytecode. mypyc has fast attributes only for its own classes, but most here are msgspec's, and
compiled code looks up globals in a dictionary each time. For this reason, writers of messages that
are generated ahead and compiled take x1.1 to x1.3 as long. mypyc refuses the generated readers.

Needs a C compiler and setuptools.
"""

import contextlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import kafka_shim
from benchmarks.against.brokers import Broker, shim

_MODULES = """
    protocol/framing protocol/records/validation protocol/codec/runtime
    shim/apis shim/dispatching/dispatcher
    shim/network/write_buffer shim/observing/audit_log
    shim/request/session shim/handlers/offset_fetch
    shim/handlers/fetch shim/handlers/init_producer_id shim/handlers/list_offsets
    shim/handlers/metadata shim/handlers/offset_commit shim/handlers/produce
    shim/handlers/producing/appending
    shim/handlers/common/topic_access
"""
"""What mypyc compiles without changes. It refuses more: slots of dataclasses, protocols that are
checked at run time, and `msgspec.field` in a class."""
_BUILD = """
import sys
from mypyc.build import mypycify
from setuptools import setup
checked = ["--ignore-missing-imports", "--follow-imports=silent"]
modules = mypycify([*checked, *sys.argv[1:]], opt_level="3", multi_file=True)
setup(name="compiled", ext_modules=modules, script_args=["build_ext", "--inplace"])
"""


@contextlib.contextmanager
def compiled() -> Iterator[Broker]:
    """Compile a copy of the package, which takes half a minute, and start it."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(kafka_shim.__file__).parent
        unwanted = shutil.ignore_patterns("__pycache__")
        shutil.copytree(source, Path(folder) / source.name, ignore=unwanted)
        modules = [f"{source.name}/{module}.py" for module in _MODULES.split()]
        build = [sys.executable, "-c", _BUILD, *modules]
        subprocess.run(build, cwd=folder, check=True, capture_output=True)
        with shim("compiled", path=folder) as broker:
            yield broker
