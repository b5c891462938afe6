"""`kafka-shim serve`: a broker until it is told to stop."""

import argparse
import asyncio
from pathlib import Path

from shim.broker import Broker
from shim.cli.broker_options import add_broker_arguments, config_from
from shim.cli.signals import on_stop
from shim.logs import set_up_logs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_broker_arguments(parser)
    parser.add_argument(
        "--ready-file",
        metavar="PATH",
        help="written once the broker answers: one NAME=HOST:PORT a line",
    )

    parser.add_argument("--record", type=Path, metavar="DIR", help="write a trace of all requests")


def run(args: argparse.Namespace) -> int:
    config = config_from(args)
    set_up_logs(config.log_level, config.log_format)
    broker = Broker(config)
    if args.record is not None:
        broker.record(args.record)
    return asyncio.run(_serve(broker, args.ready_file))


async def _serve(broker: Broker, ready_file: str | None) -> int:
    await broker.start()
    stopped = asyncio.Event()
    on_stop(lambda _: stopped.set())
    for name, address in broker.addresses():
        print(f"listening on {name}://{address}", flush=True)
    if ready_file is not None:
        broker.write_ready_file(ready_file)
    cluster = broker.cluster
    # existing wait strategies look for this line of Kafka's
    node, release = cluster.controller_id, cluster.release
    print(f"[KafkaServer id={node}] started, as Kafka {release}", flush=True)
    await stopped.wait()
    await broker.stop()
    return 0
