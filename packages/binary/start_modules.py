"""The modules of a start, in memory: loading them one by one takes a fifth of its time.

PyInstaller's archive opens the single file and decompresses for each module.
"""

import marshal
import os
import sys
from _frozen_importlib import ModuleSpec  # importlib is one of the modules
from collections.abc import Mapping
from types import ModuleType


class StartModules:
    """Finds and loads modules, from whether they are packages and their code; reads their data."""

    def __init__(
        self, folder: str, modules: Mapping[str, tuple[bool, bytes]], data: Mapping[str, bytes]
    ) -> None:
        self._folder = folder
        self._modules = modules
        self._data = data

    def find_spec(
        self, name: str, _path: object = None, _target: object = None
    ) -> ModuleSpec | None:
        """Return how to load a module; None for others than those of a start."""
        if name not in self._modules:
            return None
        is_package = self._modules[name][0]
        path = os.path.join(self._folder, *name.split("."))
        origin = os.path.join(path, "__init__.py") if is_package else f"{path}.py"
        spec = ModuleSpec(name, self, origin=origin, is_package=is_package)
        spec.has_location = True
        if is_package:
            spec.submodule_search_locations = [path]
        return spec

    def get_data(self, path: str) -> bytes:
        """Return a file of a package, as loaders of files do."""
        name = os.path.relpath(path, self._folder).replace(os.sep, "/")
        if name in self._data:
            return self._data[name]
        with open(path, "rb") as file:
            return file.read()

    def create_module(self, _spec: ModuleSpec) -> None:
        """Return None: an ordinary module."""

    def exec_module(self, module: ModuleType) -> None:
        exec(marshal.loads(self._modules[module.__name__][1]), module.__dict__)


def install(
    folder: str, modules: Mapping[str, tuple[bool, bytes]], data: Mapping[str, bytes]
) -> None:
    """Look for modules among these first, from now on."""
    sys.meta_path.insert(0, StartModules(folder, modules, data))
