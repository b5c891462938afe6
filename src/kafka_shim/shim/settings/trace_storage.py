"""How a trace that a broker or a proxy records is stored, from the options of a command."""

import argparse
from typing import TYPE_CHECKING

from kafka_shim.shim.errors import ConfigError
from kafka_shim.text.extras import requires

if TYPE_CHECKING:
    from kafka_shim.trace_format.segments import TraceStorage


def storage_of_requested_trace(args: argparse.Namespace) -> "TraceStorage | None":
    """Return how the trace of --record is stored; None without --record.

    Raise ConfigError for an invalid value.
    """
    if args.record is not None:
        return trace_storage_of_options(args)
    if args.record_keep is not None or args.record_compression is not None:
        raise ConfigError("--record-keep and --record-compression require --record")
    return None


def trace_storage_of_options(args: argparse.Namespace) -> "TraceStorage":
    """Return how the trace is compressed and kept. Raise ConfigError for an invalid value."""
    from kafka_shim.protocol.records.compression import (  # noqa: PLC0415 - only to record
        Compression,
        is_compression_available,
    )
    from kafka_shim.trace_format.segments import TraceStorage  # noqa: PLC0415 - as above

    if args.record_compression == "zstd" and not is_compression_available(Compression.ZSTD):
        raise ConfigError(requires("--record-compression zstd", "compression"))
    if args.record_keep is not None and args.record_keep < 1:
        raise ConfigError(f"--record-keep `{args.record_keep}`: expected 1 or more")
    return TraceStorage(args.record_compression or "none", args.record_keep)
