"""The broker with its clock, and the server of the control API, as the options describe them."""

import argparse
from typing import TYPE_CHECKING

from kafka_shim.shim.broker import Broker
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.system_clock import ClientsManualClock

if TYPE_CHECKING:
    from kafka_shim.shim.config import Config
    from kafka_shim.shim.control.http_server import ControlServer


def create_broker_with_clock(config: "Config", args: argparse.Namespace) -> Broker:
    """Return the broker; with --manual-clock, only the control API moves its clock."""
    if not args.manual_clock:
        return Broker(config)
    if args.control is None:
        raise ConfigError(
            "--manual-clock requires --control, which is the only way to advance the clock"
        )
    return Broker(config, ClientsManualClock())


def create_control_server(broker: Broker, args: argparse.Namespace) -> "ControlServer | None":
    """Return the server of the control API, not yet started; None without --control."""
    if args.control is None:
        if args.control_token is not None:
            raise ConfigError("--control-token requires --control")
        return None
    if args.control_token == "":
        raise ConfigError("--control-token is empty; expected a non-empty token")
    from kafka_shim.shim.control.http_server import ControlServer

    return ControlServer(broker, args.control, args.control_token)
