"""Check what Spark needs; this module itself needs no package."""

import os
import shutil
from pathlib import Path

from kafka_shim.text.extras import is_installed, requires

WITHOUT_JAVA = (
    "Spark needs Java 17 or newer, which was not found; install it (for instance: apt install"
    " openjdk-17-jre-headless) or set JAVA_HOME"
)


def missing_local_package() -> str | None:
    """Return in one line what the local engine needs; None if nothing is missing."""
    return None if is_installed("local") else requires("analysis of traces", "local")


def missing_requirement(*, is_remote: bool = False) -> str | None:
    """Return in one line what must be installed first; None if nothing is missing.

    `is_remote`: Spark runs on a server (Spark Connect), as it does if SPARK_REMOTE is set.
    """
    if is_remote or os.environ.get("SPARK_REMOTE"):
        return None if is_installed("connect") else requires("a Spark Connect server", "connect")
    if not is_installed("pipeline"):
        return requires("analysis on Spark", "pipeline")
    home = os.environ.get("JAVA_HOME")
    if home:
        has_java = (Path(home) / "bin" / "java").exists()
        return None if has_java else f"JAVA_HOME is `{home}`, which has no bin/java"
    return None if shutil.which("java") else WITHOUT_JAVA
