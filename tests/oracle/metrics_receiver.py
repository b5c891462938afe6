"""A metric reporter for real brokers that keeps the metrics pushed by clients (KIP-714)."""

import subprocess
from pathlib import Path
from types import MappingProxyType

from tests.oracle.real_kafka import CACHE, jars

SOURCE = Path(__file__).parent / "java" / "MetricsReceiver.java"
SETTINGS = MappingProxyType({"metric.reporters": "MetricsReceiver"})
"""Settings with which a broker uses the reporter, if it is on the class path."""

COMPILING_SECONDS = 120


def receiver_classes(release: str) -> Path:
    """Return the folder with the class, compiled against a release (3.7 and later)."""
    folder = CACHE / release / "receiver"
    compiled = folder / "MetricsReceiver.class"
    if not compiled.exists() or compiled.stat().st_mtime < SOURCE.stat().st_mtime:
        # the interface is deprecated in newer releases, but older ones have no other
        command = ["javac", "-Xlint:-removal", "-d", str(folder), "-cp", f"{jars(release)}/*"]
        subprocess.run([*command, str(SOURCE)], check=True, timeout=COMPILING_SECONDS)
    return folder
