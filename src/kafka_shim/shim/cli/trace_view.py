"""`kafka-shim trace view`: show a trace in the inspector."""

import argparse
import sys

from kafka_shim.shim.config import PORT_MAX
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.traffic.traces.inspector_rows import InspectorRows


def add_view_arguments(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--port",
        type=int,
        default=0,
        metavar="PORT",
        help="port to serve the page on (default: any free one)",
    )


def serve_inspector(trace: InspectorRows, port: int) -> int:
    """Print the page's address, and serve it until Ctrl-C."""
    from kafka_shim.shim.control.trace_inspector_server import TraceInspectorServer

    if not 0 <= port <= PORT_MAX:
        raise ConfigError(f"--port `{port}`: expected 0 to {PORT_MAX}")
    if trace.left_out:
        text = f"shown are the first {trace.last} requests; choose by --api, --principal, --denied"
        print(f"{trace.left_out} later ones left out: {text}", file=sys.stderr)
    with TraceInspectorServer(trace, port) as server:
        print(f"{server.url} (Ctrl-C ends it)", flush=True)
        server.serve_forever()
    return 0
