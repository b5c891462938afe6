"""Packages of the extras `pipeline` and `local`, imported when they are first used.

So the jobs' options, `--help` and error messages need neither Spark nor Arrow, and appear
immediately.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa
    from pyspark.sql import functions as f
else:

    class _LazyModule:
        """Stand for a module until one of its attributes is read."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __reduce__(self) -> tuple[type, tuple[str]]:
            return _LazyModule, (self._name,)

        def __getattr__(self, attribute: str) -> Any:
            return getattr(import_module(self._name), attribute)

    duckdb = _LazyModule("duckdb")
    f = _LazyModule("pyspark.sql.functions")
    pa = _LazyModule("pyarrow")

__all__ = ["duckdb", "f", "pa"]
