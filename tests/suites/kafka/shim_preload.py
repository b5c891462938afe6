"""Imported once before shims are forked, so that they start in a tenth of the time."""

import pkgutil
from importlib import import_module

from kafka_shim import cli
from kafka_shim.protocol import messages
from kafka_shim.shim import control, handlers

for package in (handlers, messages, cli, control):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        import_module(module.name)
