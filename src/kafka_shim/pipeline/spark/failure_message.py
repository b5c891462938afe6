"""The reason of a failure of Spark in one line, with advice."""

import re
import sys

from py4j.protocol import Py4JError, Py4JJavaError

WORKER_WAS_LATE = "Python worker failed to connect back"
_LAST_OF_TRACEBACK = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t].*\n|\n)*(\S.*)")
_WORKER_OUTPUT = re.compile(r"Error from python worker:\n((?:[ \t].*\n|\n)+)")
_OWN = re.compile(r"^kafka_shim\.pipeline\.errors\.PipelineError: ")
_MISSING = re.compile(r"No module named '([\w.]+)'")

WORKER_PYTHON = "PYSPARK_PYTHON has to name a Python {}.{} on the workers".format(*sys.version_info)
OLD_JAVA = "Spark needs Java 17 or newer: install it, or set JAVA_HOME"
_ADVICE = (
    (
        WORKER_WAS_LATE,
        "a Python worker did not start within ten seconds: try again, or --master 'local[1]'",
    ),
    ("OutOfMemoryError", "Java has too little memory; set SPARK_DRIVER_MEMORY=4g"),
    ("Java heap space", "Java has too little memory; set SPARK_DRIVER_MEMORY=4g"),
    (
        "Python worker exited unexpectedly",
        "a Python worker was killed, probably for its memory; try --master 'local[1]'",
    ),
    (
        "bigger than spark.driver.maxResultSize",
        "more different accesses than the limit; raise it: --conf spark.driver.maxResultSize=4g",
    ),
    ("No space left on device", "the disk is full; set SPARK_LOCAL_DIRS to a folder with room"),
    ("UnsupportedClassVersionError", OLD_JAVA),
    ("Unrecognized option", OLD_JAVA),
    ("PYTHON_VERSION_MISMATCH", WORKER_PYTHON),
    ("java.io.IOException: Cannot run program", WORKER_PYTHON),
    ("Error from python worker:", WORKER_PYTHON),
    ("Answer from Java side is empty", "Java was killed, probably for its memory"),
    ("Connection refused", "Java, or the server of --remote, is not running"),
)
"""What to do about a failure whose text has these words."""


def worker_started_late(error: BaseException) -> bool:
    """Return whether Spark failed because a Python worker took too long to start."""
    return WORKER_WAS_LATE in _exception_text(error)


def failure_line_with_advice(error: BaseException) -> str:
    """Return the reason and, if known, what to do."""
    text = _exception_text(error)
    line = _failure_reason(text) or type(error).__name__
    if _OWN.match(line):
        return _OWN.sub("", line)
    advice = advice_for_failure_text(text)
    missing = _MISSING.search(text)
    module = missing[1].partition(".")[0] if missing else ""
    if module and module not in sys.stdlib_module_names:
        package = module.replace("kafka_shim", "kafka-shim")
        advice = (
            f"install {package} into the Python of Spark's workers, or set PYSPARK_PYTHON to one"
            " that has it"
        )
    return f"Spark failed: {line}" + (f" ({advice})" if advice else "")


def _failure_reason(text: str) -> str:
    """Return the last line of what a worker printed before it ended, of the last traceback, or the
    first line.
    """
    printed = _WORKER_OUTPUT.search(text)
    if printed:
        return printed[1].strip().splitlines()[-1].strip()
    tracebacks = _LAST_OF_TRACEBACK.findall(text)
    return tracebacks[-1] if tracebacks else next(iter(text.splitlines()), "")


def advice_for_failure_text(text: str) -> str | None:
    """Return what to do about a failure with this text; None if unknown."""
    return next((advice for words, advice in _ADVICE if words in text), None)


def _exception_text(error: BaseException) -> str:
    if isinstance(error, Py4JJavaError):  # its own text begins with the call in Java
        try:
            return str(error.java_exception)
        except (Py4JError, OSError):  # Java has ended
            return str(error.args)
    return str(error) or type(error).__name__
