"""The Spark session: checks Java, uses this Python for workers, starts fast for short runs."""

import logging
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.pipeline.interrupts import delay_interrupts, restore_interrupt_handler
from kafka_shim.pipeline.package import write_worker_packages
from kafka_shim.pipeline.spark.data_source import KafkaTraceSource
from kafka_shim.pipeline.spark.failure_message import OLD_JAVA, advice_for_failure_text
from kafka_shim.pipeline.spark.spark_log import TemporarySparkLog
from kafka_shim.pipeline.spark_requirements import missing_requirement

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


APP_NAME = "kafka-shim pipeline"
_STACK = "-Xss16m"
"""When a stream is stopped in the middle of a micro-batch, Spark matches the text of the error with
a regular expression that takes a stack frame a character; a megabyte is not always enough."""
_MEMORY = ("-XX:+UseParallelGC", "-XX:MetaspaceSize=256m", "-XX:InitialRAMPercentage=6.25")
"""On two cores, G1's concurrent threads take time of the tasks. By default, the collector visits
the whole heap each time that Spark's classes have filled some 20 MiB more, and when the heap has to
grow from a 64th of the machine's memory. It begins with its maximum if that is less than a 16th.
"""
HEAP_MIN, HEAP_MAX = 1 << 30, 31 << 30
"""Spark's default, and the most that Java addresses with compressed pointers."""
_LOG_SETTINGS = Path(__file__).with_name("log4j2.properties").absolute()


def spark_session(
    master: str | None = None,
    *,
    without_optimising_compiler: bool = True,
    log: TemporarySparkLog | None = None,
    settings: Mapping[str, str] | None = None,
) -> "SparkSession":
    """Return this process's session with the data source.

    `master` None: as spark-submit or the environment define, or all local cores.
    `without_optimising_compiler`: runs under a minute take a third less time, long ones more.
    Output of a JVM that this process starts goes to `log`. `settings` are further Spark
    settings. Raise PipelineError if the session cannot be created.
    """
    problem = missing_requirement()
    if problem is not None:
        raise PipelineError(problem)
    from pyspark.errors import PySparkRuntimeError  # noqa: PLC0415 - only when all of it is there
    from pyspark.sql import SparkSession  # noqa: PLC0415

    builder = SparkSession.builder.appName(APP_NAME)
    if not _is_externally_configured():
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the default is any `python3`
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        cores = os.cpu_count() or 2
        local = _local_settings(
            cores, without_optimising_compiler=without_optimising_compiler
        ) | dict(settings or {})
        local |= {"spark.master": master or f"local[{cores}]", "spark.app.name": APP_NAME}
        if log is not None:
            _start_java_logging_errors(local, log)
        builder = builder.config(map={**local})
    try:
        session = builder.getOrCreate()
    except PySparkRuntimeError as error:
        if error.getCondition() != "JAVA_GATEWAY_EXITED":
            raise
        reason = f"for the reason that Java printed; {OLD_JAVA}"
        raise PipelineError(f"Spark did not start, {reason}") from error
    return _prepare_session(session)


def prepare_remote_session(address: str) -> "SparkSession":
    """Return a session on a Spark Connect server (`sc://HOST:PORT`), and send it the packages."""
    problem = missing_requirement(is_remote=True)
    if problem is not None:
        raise PipelineError(problem)
    from pyspark.sql import SparkSession  # noqa: PLC0415 - only when all of it is there

    active = SparkSession.getActiveSession()
    if (
        active is not None
    ):  # from an earlier job of this command; Spark rejects a file that is sent twice
        return active
    session = SparkSession.builder.remote(address).getOrCreate()
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder, "kafka-shim.zip")
        write_worker_packages(archive)
        session.addArtifacts(str(archive), pyfile=True)
    return _prepare_session(session)


def _prepare_session(session: "SparkSession") -> "SparkSession":
    session.conf.set("spark.sql.session.timeZone", "UTC")
    session.dataSource.register(KafkaTraceSource)
    return session


def _start_java_logging_errors(settings: dict[str, str], log: TemporarySparkLog) -> None:
    """Start the JVM with its standard error in a file, unless this process has one."""
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415 - only when all of it is there
    from pyspark.errors import PySparkRuntimeError  # noqa: PLC0415
    from pyspark.java_gateway import launch_gateway  # noqa: PLC0415

    if SparkContext._gateway is not None:
        return
    conf = SparkConf(loadDefaults=False).setAll([*settings.items()])
    with log.path.open("ab") as errors:
        try:
            # interrupted, PySpark removes the folder to which Java writes its port, and Java,
            # failing to write, never ends
            with delay_interrupts():
                gateway = launch_gateway(conf, {"stderr": errors})  # type: ignore[no-untyped-call]
        except PySparkRuntimeError as error:
            reason = log.first_error_line() or str(error)
            advice = advice_for_failure_text(log.path.read_text("utf-8", "replace"))
            if advice == OLD_JAVA:  # the first lines are about a class
                reason = advice
            elif advice:
                reason = f"{reason} ({advice})"
            log.append_failure(str(error))
            raise PipelineError(f"Spark did not start: {reason}; more in {log.path}") from error
    SparkContext._ensure_initialized(gateway=gateway)
    with restore_interrupt_handler():  # PySpark's would call Java in the middle of a call
        SparkContext.getOrCreate(SparkConf().setAll([*settings.items()]))


def end_java() -> None:
    """Kill this process's JVM, so that nothing waits for its jobs, and log no error of that."""
    from pyspark import SparkContext  # noqa: PLC0415 - only when all of it is there

    logging.disable()
    accumulators = getattr(SparkContext._active_spark_context, "_accumulatorServer", None)
    if accumulators is not None:
        accumulators.handle_error = lambda *_: None  # prints a traceback
    process = getattr(SparkContext._gateway, "proc", None)
    if process is not None:
        process.kill()


def _is_externally_configured() -> bool:
    """Return whether spark-submit or the environment define where and how Spark runs."""
    return "SPARK_REMOTE" in os.environ or "PYSPARK_GATEWAY_PORT" in os.environ


def _heap_setting() -> dict[str, str]:
    """Return half of the machine's memory as the heap, unless the environment has one."""
    if "SPARK_DRIVER_MEMORY" in os.environ or not hasattr(os, "sysconf"):
        return {}
    half = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    return {"spark.driver.memory": f"{min(max(half, HEAP_MIN), HEAP_MAX) >> 20}m"}


def _local_settings(cores: int, *, without_optimising_compiler: bool) -> dict[str, str]:
    options = [_STACK, *_MEMORY, f"-Dlog4j.configurationFile={_LOG_SETTINGS.as_uri()}"]
    options += ["-XX:TieredStopAtLevel=1"] if without_optimising_compiler else []
    return {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",  # would overwrite our own output
        "spark.sql.shuffle.partitions": str(cores),
        # small data is put together into a partition a core; of large data, a partition fits into
        # the memory of a task
        "spark.sql.adaptive.coalescePartitions.initialPartitionNum": str(16 * cores),
        "spark.sql.adaptive.advisoryPartitionSizeInBytes": "32m",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "50000",  # rows of a few hundred bytes
        "spark.sql.catalogImplementation": "in-memory",
        "spark.driver.extraJavaOptions": " ".join(options),
        **_heap_setting(),
    }
