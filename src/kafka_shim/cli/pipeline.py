"""`kafka-shim pipeline`: runs jobs of the pipeline package, also with the ACLs of a broker."""

import argparse
import importlib
import tempfile
from pathlib import Path
from typing import Any

from kafka_shim.cli.usage import UsageError, run_reporting_errors

_JOBS = "kafka_shim.pipeline.cli"
_FORM = "json"
DESCRIPTION = """\
Analyse traces: what an ACL change would break, unused ACLs, least ACLs. The jobs require the extra
`local` (DuckDB, no Java) or `pipeline` (Spark, Java 17 or newer).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    _import_pipeline_cli().add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    return run_reporting_errors(args, run_jobs)


def run_jobs(args: argparse.Namespace) -> int:
    """Run a job; ACLs of a broker are written to a file for it first."""
    with tempfile.TemporaryDirectory() as folder:
        for number, job in enumerate(_import_pipeline_cli().args_of_chained_jobs(args)):
            _save_broker_acls(job, Path(folder, f"acls-{number}.{_FORM}"))
        return int(_import_pipeline_cli().run(args))


def _save_broker_acls(args: argparse.Namespace, acl_file: Path) -> None:
    """Write the ACLs of the broker in `args` to a file, which replaces the broker in `args`."""
    server = getattr(args, "bootstrap_server", None)
    if server is None and getattr(args, "command_config", None):
        raise UsageError("--command-config requires --bootstrap-server")
    if server is None:
        return
    if args.acls:
        raise UsageError("take the ACLs of --acls or of --bootstrap-server, not of both")
    # most commands need no broker, and importing the client takes as long as a small job
    from kafka_shim.cli.connection_options import connect_with_options
    from kafka_shim.client.cluster_policy import describe_known_acls
    from kafka_shim.policy.formats import format_acls_losslessly
    from kafka_shim.protocol.api_versions import most_similar_release

    with connect_with_options(args) as client:
        acls = describe_known_acls(client)
        args.kafka_version = args.kafka_version or most_similar_release(client.versions)
    acl_file.write_text(format_acls_losslessly(acls, _FORM), encoding="utf-8")
    args.acls = str(acl_file)
    args.bootstrap_server = None


def _import_pipeline_cli() -> Any:
    """Import the pipeline package by name, since it is optional."""
    return importlib.import_module(_JOBS)
