"""What commands do that record a trace."""

import argparse
from typing import TYPE_CHECKING

from kafka_shim.cli import EXIT_FAILURE
from kafka_shim.shim.settings.trace_storage import storage_of_requested_trace

if TYPE_CHECKING:
    from kafka_shim.shim.broker import Broker
    from kafka_shim.shim.observing.trace_recorder import TraceRecorder


def record_if_requested(broker: "Broker", args: argparse.Namespace) -> None:
    """Start a trace if --record is given. Raise ConfigError if it cannot be written."""
    storage = storage_of_requested_trace(args)
    if storage is not None:
        broker.start_recording(args.record, storage)


def recording_exit_code(recorder: "TraceRecorder | None", code: int = 0) -> int:
    """Return the exit code; 1 in place of 0 if the trace could not be written completely."""
    failed = recorder is not None and recorder.failure is not None
    return code or (EXIT_FAILURE if failed else 0)
