"""Extension modules that few commands need: written when they are imported, not at each start."""

import importlib
import os
import sys
from importlib.machinery import ModuleSpec

import on_demand_index


class OnDemandFinder:
    """Writes the files of a module before the usual finders look for it."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def find_spec(
        self, name: str, _path: object = None, _target: object = None
    ) -> ModuleSpec | None:
        """Return None: the usual finders find the module in the files that are written here."""
        stored_modules = on_demand_index.STORED_IN.get(name, ())
        if stored_modules:
            import lzma  # noqa: PLC0415 - few commands need it
        for module_name in stored_modules:
            stored = importlib.import_module(module_name)
            path = os.path.join(self._folder, stored.PATH)
            if not os.path.exists(path):
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as file:
                    file.write(lzma.decompress(stored.CONTENT))
            importlib.invalidate_caches()
            del sys.modules[module_name]
        return None


def install(folder: str) -> None:
    """Write files of modules when they are imported, from now on."""
    sys.meta_path.insert(0, OnDemandFinder(folder))
