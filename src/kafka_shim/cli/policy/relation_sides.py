"""The two sets of ACLs, A and B, of a relation: their options, and the sides that these give."""

import argparse

from kafka_shim.cli.policy_options import (
    SETTINGS_HELP,
    policy_of_cluster,
    policy_of_files,
    with_settings,
)
from kafka_shim.cli.usage import UsageError, release_argument
from kafka_shim.policy.policy import Policy


def add_side_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of both clusters; `files` has the sets that no option names."""
    for name in ("a", "b"):
        group = parser.add_argument_group(f"Set {name.upper()}")
        group.add_argument(
            f"--{name}", metavar="HOST:PORT,...", help="Take the ACLs of this cluster"
        )
        group.add_argument(
            f"--{name}-command-config",
            metavar="FILE",
            help="Client properties (default: those of --command-config)",
        )
        group.add_argument(
            f"--{name}-version",
            type=release_argument,
            metavar="RELEASE",
            help="Kafka release whose rules decide (default: --kafka-version, else that of the"
            " cluster)",
        )
        group.add_argument(
            f"--{name}-set",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help=f"Set a broker's setting (repeatable); {SETTINGS_HELP}",
        )
    parser.add_argument(
        "--command-config", metavar="FILE", help="Client properties of both clusters"
    )


def sides_of_arguments(args: argparse.Namespace) -> tuple[Policy, Policy]:
    """Return both sides: a file, or the cluster of `--a` or `--b`, each with its own settings.

    A file has the release and the settings of the cluster on the other side, if there is one. Raise
    UsageError unless there are two sets of ACLs.
    """
    from_cluster = [name for name in ("a", "b") if vars(args)[name] is not None]
    if len(args.files) + len(from_cluster) != 2:
        raise UsageError("give two sets of ACLs: files A and B, or --a or --b instead of a file")
    own = vars(args)
    clusters = {name: _side_of_cluster(args, name) for name in "ab" if own[name] is not None}
    cluster = next(iter(clusters.values()), None)
    paths = iter(args.files)
    sides = [clusters.get(name) or _side_of_file(args, name, next(paths), cluster) for name in "ab"]
    first, second = (
        with_settings(side, own[f"{name}_set"], f"--{name}-set")
        for name, side in zip("ab", sides, strict=True)
    )
    return first, second


def _side_of_cluster(args: argparse.Namespace, name: str) -> Policy:
    own = vars(args)
    options = argparse.Namespace(**own)
    options.kafka_version = own[f"{name}_version"] or args.kafka_version
    options.bootstrap_server = own[name]
    options.command_config = own[f"{name}_command_config"] or args.command_config
    return policy_of_cluster(options, f"--{name}")


def _side_of_file(args: argparse.Namespace, name: str, path: str, cluster: Policy | None) -> Policy:
    options = argparse.Namespace(**vars(args))
    options.kafka_version = vars(args)[f"{name}_version"] or args.kafka_version
    return policy_of_files(options, [path], cluster)
