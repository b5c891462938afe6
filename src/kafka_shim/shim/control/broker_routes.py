"""The part of the control API that is about brokers as a whole, as a table."""

from kafka_shim.shim.control import broker_shapes as shapes
from kafka_shim.shim.control.brokers import Brokers
from kafka_shim.shim.control.routes import Route
from kafka_shim.shim.control.shapes import Done

BASE_PATH = "/brokers/{broker}"
"""Below it is the control API of one broker."""

BROKER_ROUTES: tuple[Route[Brokers], ...] = (
    Route("GET", "/brokers", "list_brokers", "All brokers of this process",
          lambda brokers, _: brokers.rows(), shapes.BrokerRows),
    Route("POST", "/brokers", "create_broker", "Create a broker with ports and state of its own",
          lambda brokers, call: brokers.create(call.body), shapes.BrokerRow, shapes.NewBroker),
    Route("GET", BASE_PATH, "broker", "One broker, and where it listens",
          lambda brokers, call: brokers.row(call.path["broker"]), shapes.BrokerRow),
    Route("DELETE", BASE_PATH, "remove_broker",
          "Stop a created broker, close its connections, and delete it",
          lambda brokers, call: brokers.remove(call.path["broker"]), Done),
)  # fmt: skip
