"""The part of the control API that is about brokers as a whole, as a table."""

from kafka_shim.shim.control import broker_bodies as bodies
from kafka_shim.shim.control.bodies import SetupReport
from kafka_shim.shim.control.broker_registry import BrokerRegistry
from kafka_shim.shim.control.routes import Route

BASE_PATH = "/brokers/{broker}"
"""Below it is the control API of one broker."""

BROKER_ROUTES: tuple[Route[BrokerRegistry], ...] = (
    Route("GET", "/brokers", "list_brokers", "All brokers of this process",
          lambda brokers, _: brokers.list_brokers(), bodies.BrokerRows),
    Route("POST", "/brokers", "create_broker", "Create a broker with ports and state of its own",
          lambda brokers, call: brokers.create_broker(call.body), bodies.CreatedBroker,
          bodies.NewBroker),
    Route("GET", BASE_PATH, "broker", "One broker, and where it listens",
          lambda brokers, call: brokers.broker_row(call.path["broker"]), bodies.BrokerRow),
    Route("DELETE", BASE_PATH, "remove_broker",
          "Stop a created broker, close its connections, and delete it",
          lambda brokers, call: brokers.remove_broker(call.path["broker"]), SetupReport),
)  # fmt: skip
