"""`kafka-shim proxy`: forward to a real cluster and record what clients send."""

import argparse
import asyncio
import re
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_shim.cli.record_options import recording_exit_code
from kafka_shim.cli.usage import run_reporting_errors
from kafka_shim.client.client import connect
from kafka_shim.client.config import read_client_config
from kafka_shim.shim.config import parse_address
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.observing.trace_recorder import TraceRecorder
from kafka_shim.shim.settings.java_properties import read_properties_file
from kafka_shim.shim.settings.option_arguments import add_named_options
from kafka_shim.shim.settings.options import TLS_DIRECTORY
from kafka_shim.shim.settings.trace_storage import trace_storage_of_options
from kafka_shim.shim.signals import call_on_stop_signal
from kafka_shim.shim.system_clock import SystemClock
from kafka_shim.text.logs import configure_logging
from kafka_shim.trace_format.entries import DERIVED
from kafka_shim.traces.proxy.proxy import Proxy
from kafka_shim.traces.proxy.upstream import UpstreamConnector
from kafka_shim.traces.record_masks import MaskingObserver, RecordMasks

if TYPE_CHECKING:
    import ssl

UPSTREAM_CONFIG = "--upstream-config"
_NAME = re.compile(r"[\w.-]+")


DESCRIPTION = """\
Forward requests and responses between clients and a real cluster, and record them as a trace. In
responses, the addresses of brokers are replaced by the proxy's: the host of --listen, with a free
port for each broker. Passwords and tokens are not recorded; keys and values of records are, unless
--mask removes them. Ctrl-C or SIGTERM stops the proxy. An existing trace is continued.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    add = parser.add_argument_group("Cluster").add_argument
    add(
        "--upstream",
        required=True,
        metavar="HOST:PORT",
        help="Broker of the real cluster to forward to",
    )
    add(
        UPSTREAM_CONFIG,
        metavar="FILE",
        help="Client properties for connections to the brokers: security.protocol, ssl.* in PEM,"
        " sasl.*. With sasl.*, the proxy authenticates itself; by default, clients authenticate"
        " through the proxy",
    )
    add = parser.add_argument_group("Clients").add_argument
    add(
        "--listen",
        default="127.0.0.1:0",
        metavar="HOST:PORT",
        help="Address that clients connect to; port 0 picks a free port (default: 127.0.0.1:0)",
    )
    add(
        "--listener",
        default="PROXY",
        metavar="NAME",
        help="Name of the listener in the trace, for `replay --route` (default: PROXY)",
    )
    add(
        "--tls-dir",
        metavar="DIR",
        help="Serve clients over TLS with generated certificates; ca.pem is written to this folder",
    )
    add(
        "--tls-config",
        metavar="FILE",
        help="Serve clients over TLS: broker properties ssl.keystore.* and ssl.truststore.*",
    )
    trace = parser.add_argument_group("Trace")
    trace.add_argument(
        "--record", required=True, type=Path, metavar="DIR", help="Folder to write the trace to"
    )
    add_named_options(trace, ("record_compression", "record_keep", "mask"))


def run(args: argparse.Namespace) -> int:
    return run_reporting_errors(args, _run_proxy)


def _run_proxy(args: argparse.Namespace) -> int:
    configure_logging("info", "console")
    upstream = parse_address(args.upstream, "--upstream")
    listen = parse_address(args.listen, "--listen")
    if not _NAME.fullmatch(args.listener):
        raise ConfigError(f"--listener `{args.listener}`: expected a name, as in PROXY")
    config = read_client_config(args.upstream_config, UPSTREAM_CONFIG)
    storage = trace_storage_of_options(args)
    masks = RecordMasks(args.mask or ())
    tls = _tls_context_for_clients(args, listen[0])
    connect(args.upstream, config).close()  # report now what the broker would reject later
    recorder = TraceRecorder(
        args.record,
        SystemClock(),
        # entries of several proxies in one folder are ordered by their times
        writer=f"proxy-{args.listener}",
        storage=storage,
        accesses_source=DERIVED,
    )
    recorder.masks = masks.texts
    observer = MaskingObserver(recorder, masks) if masks.texts else recorder
    brokers = UpstreamConnector(config)
    proxy = Proxy(upstream, listen, observer, name=args.listener, brokers=brokers, tls=tls)
    asyncio.run(_serve(proxy, args))
    return recording_exit_code(recorder)


async def _serve(proxy: Proxy, args: argparse.Namespace) -> None:
    try:
        bootstrap = await proxy.start()
        stopped = asyncio.Event()
        call_on_stop_signal(lambda _: stopped.set())
        print(f"proxy for {args.upstream} on {bootstrap}, recording to {args.record}", flush=True)
        await stopped.wait()
    finally:
        await proxy.stop()


def _tls_context_for_clients(args: argparse.Namespace, host: str) -> "ssl.SSLContext | None":
    """Return the TLS context for clients; None without TLS."""
    if args.tls_dir is None and args.tls_config is None:
        return None
    if args.tls_dir is not None and args.tls_config is not None:
        raise ConfigError(
            "--tls-dir and --tls-config cannot be combined: the first generates certificates, the"
            " second names existing ones"
        )
    from kafka_shim.shim.tls.context import build_server_context

    if args.tls_config is None:
        return build_server_context({TLS_DIRECTORY: args.tls_dir}, args.listener, host)
    settings = read_properties_file(args.tls_config, "--tls-config")
    file = f"--tls-config {args.tls_config}"
    try:
        return build_server_context(settings, args.listener, host)
    except ConfigError as error:
        raise ConfigError(settings.locations(file).add_location(str(error))) from error
