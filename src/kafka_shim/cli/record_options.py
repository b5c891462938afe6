"""Options of commands that record a trace."""

import argparse
from typing import TYPE_CHECKING

from kafka_shim.cli import EXIT_FAILURE
from kafka_shim.cli.command_parser import parse_path
from kafka_shim.shim.errors import ConfigError
from kafka_shim.text.extras import requires

if TYPE_CHECKING:
    from kafka_shim.shim.broker import Broker
    from kafka_shim.shim.observing.trace_recorder import TraceRecorder
    from kafka_shim.trace_format.segments import TraceStorage

_COMPRESSIONS = ("none", "zlib", "zstd")


def add_record_arguments(parser: argparse.ArgumentParser) -> None:
    """Add --record and its options to a command that starts a broker."""
    group = parser.add_argument_group("Trace")
    group.add_argument(
        "--record",
        type=parse_path,
        metavar="DIR",
        help="Record all requests and responses as a trace in this folder",
    )
    add_trace_storage_arguments(group)


def record_if_requested(broker: "Broker", args: argparse.Namespace) -> None:
    """Start a trace if --record is given. Raise ConfigError if it cannot be written."""
    if args.record is not None:
        broker.start_recording(args.record, trace_storage_of_options(args))
    elif args.record_keep is not None or args.record_compression is not None:
        raise ConfigError("--record-keep and --record-compression require --record")


def exit_code_after_recording(recorder: "TraceRecorder | None", code: int = 0) -> int:
    """Return the exit code; 1 in place of 0 if the trace could not be written completely."""
    failed = recorder is not None and recorder.failure is not None
    return code or (EXIT_FAILURE if failed else 0)


def add_trace_storage_arguments(group: argparse._ActionsContainer) -> None:
    group.add_argument(
        "--record-compression",
        choices=_COMPRESSIONS,
        help="Compression of the trace (default: none); zstd needs the extra `compression`",
    )
    group.add_argument(
        "--record-keep",
        type=int,
        metavar="N",
        help="Keep the N newest segments of the trace, 64 MiB each (default: all)",
    )


def add_mask_argument(group: argparse._ActionsContainer) -> None:
    """Add --mask to a command that records what passes between clients and a cluster."""
    group.add_argument(
        "--mask",
        action="append",
        default=[],
        metavar="[TOPIC:]PART[:PATH]",
        help="Record records without this part: value, key or headers; value:customer.name is a"
        " field of JSON values (repeatable)",
    )


def trace_storage_of_options(args: argparse.Namespace) -> "TraceStorage":
    """Return how the trace is compressed and kept. Raise ConfigError for an invalid value."""
    from kafka_shim.protocol.records.compression import Compression, is_compression_available
    from kafka_shim.trace_format.segments import TraceStorage

    if args.record_compression == "zstd" and not is_compression_available(Compression.ZSTD):
        raise ConfigError(requires("--record-compression zstd", "compression"))
    if args.record_keep is not None and args.record_keep < 1:
        raise ConfigError(f"--record-keep `{args.record_keep}`: expected 1 or more")
    return TraceStorage(args.record_compression or _COMPRESSIONS[0], args.record_keep)
