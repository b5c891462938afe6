"""`kafka-shim pipeline`: runs jobs of the pipeline package, also with the ACLs of a broker."""

import argparse
import importlib
import tempfile
from pathlib import Path
from typing import Any

from kafka_shim.authorizer.acl_formats import write
from kafka_shim.shim.cli.acl_source import is_concrete, release_of
from kafka_shim.shim.cli.connecting import connected
from kafka_shim.shim.cli.usage import UsageError, guarded
from kafka_shim.shim.client.acls import describe_acls

_JOBS = "kafka_shim.pipeline.cli"
_FORM = "json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    _jobs().add_arguments(parser)


def run(args: argparse.Namespace) -> int:
    return guarded(args, _run)


def _run(args: argparse.Namespace) -> int:
    """Run a job; ACLs of a broker are written to a file for it first."""
    with tempfile.TemporaryDirectory() as folder:
        for number, job in enumerate(_jobs().chained_jobs(args)):
            _take_acls(job, Path(folder, f"acls-{number}.{_FORM}"))
        return int(_jobs().run(args))


def _take_acls(args: argparse.Namespace, target: Path) -> None:
    """Write the broker's ACLs to `target`, and replace the broker by this file in the arguments."""
    server = getattr(args, "bootstrap_server", None)
    if server is None and getattr(args, "command_config", None):
        raise UsageError("--command-config requires --bootstrap-server")
    if server is None:
        return
    if args.acls:
        raise UsageError("take the ACLs of --acls or of --bootstrap-server, not of both")
    with connected(args) as client:
        acls = [acl for acl in describe_acls(client) if is_concrete(acl)]
        args.kafka_version = args.kafka_version or release_of(client.versions)
    target.write_text(write(acls, _FORM), encoding="utf-8")
    args.acls = str(target)
    args.bootstrap_server = None


def _jobs() -> Any:
    """Import the pipeline package by name, since it is optional."""
    return importlib.import_module(_JOBS)
