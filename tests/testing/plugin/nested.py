"""Runs pytest in its own process, as a project that uses the plugin does."""

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

PLUGIN = "kafka_shim.testing.pytest_plugin"
NEEDED = (PLUGIN, "pytest_asyncio.plugin", "xdist.plugin")


def run_pytest(
    folder: Path, *words: str, finds_plugins: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run pytest in a folder with the plugins that tests there need.

    With `finds_plugins` pytest loads all installed plugins, as it does for users, which takes two
    seconds of processor time. Otherwise it loads only the plugins that the tests name.
    """
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    environment = dict(os.environ)
    if not finds_plugins or not is_installed():
        environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        command += [word for plugin in NEEDED for word in ("-p", plugin)]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, timeout=150,
        env=environment,
    )  # fmt: skip


def is_installed() -> bool:
    return any(entry_point.value == PLUGIN for entry_point in entry_points(group="pytest11"))
