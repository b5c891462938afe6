"""Save the import of pandas, which takes longer than a job on a small trace."""

import sys

import pyarrow as pa


class _WithoutPandas:
    """A finder of modules that finds no pandas."""

    def find_spec(self, name: str, *_: object) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name)


def keep_pyarrow_from_importing_pandas() -> None:
    """Let pyarrow look for pandas now, unless it is imported, and not find it.

    Otherwise it imports an installed pandas to find out whether a list is one of its arrays. Its
    methods that need pandas still import it.
    """
    if "pandas" in sys.modules:
        return
    finder = _WithoutPandas()
    sys.meta_path.insert(0, finder)
    try:
        pa.array([])
    finally:
        sys.meta_path.remove(finder)
