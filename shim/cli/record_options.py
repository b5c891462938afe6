"""How a trace is kept: options of whatever records."""

import argparse
from typing import TYPE_CHECKING

from shim.errors import ConfigError

if TYPE_CHECKING:
    from protocol.trace.segments import Keeping

_COMPRESSIONS = ("none", "zlib", "zstd")


def add_record_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--record-compression",
        choices=_COMPRESSIONS,
        default=_COMPRESSIONS[0],
        help="of the trace (default none); zstd needs the extra `compression`",
    )
    parser.add_argument(
        "--record-keep",
        type=int,
        metavar="N",
        help="keep the N newest segments of the trace, 64 MiB each (default: all)",
    )


def keeping_of(args: argparse.Namespace) -> "Keeping":
    """What the options say; ConfigError if it cannot be done."""
    from protocol.compression import Compression, is_available
    from protocol.trace.segments import Keeping

    if args.record_compression == "zstd" and not is_available(Compression.ZSTD):
        raise ConfigError("--record-compression zstd needs: pip install 'kafka-shim[compression]'")
    if args.record_keep is not None and args.record_keep < 1:
        raise ConfigError(f"--record-keep `{args.record_keep}`: expected 1 or more")
    return Keeping(args.record_compression, args.record_keep)
