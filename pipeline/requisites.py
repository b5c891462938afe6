"""What has to be there before Spark can run; needs no package itself."""

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

from kafka_shim.extras import requires

WITHOUT_JAVA = (
    "Spark needs Java 17 or newer, and there is none; install it (for instance: apt install"
    " openjdk-17-jre-headless) or set JAVA_HOME"
)


def missing() -> str | None:
    """What has to be installed first, in one line; None if all is there."""
    if any(find_spec(name) is None for name in ("pyspark", "pyarrow", "pandas")):
        return requires("analysis on Spark", "pipeline")
    if os.environ.get("SPARK_REMOTE"):
        return None
    home = os.environ.get("JAVA_HOME")
    if home:
        has_java = (Path(home) / "bin" / "java").exists()
        return None if has_java else f"JAVA_HOME is `{home}`, and there is no bin/java in it"
    return None if shutil.which("java") else WITHOUT_JAVA
