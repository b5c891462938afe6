"""The image in Testcontainers: `with KafkaShimContainer().with_user("alice", "x") as kafka`.

It needs the extra `testcontainers`. Kafka's clients connect to mapped ports, which are known only
when the container runs. So the broker is created then, over the control API.
"""

import secrets
from collections.abc import Mapping
from typing import Any, Self

from kafka_shim.testing.setup_warnings import warn_at_caller
from kafka_shim.testing.transport import HttpControl
from kafka_shim.text.extras import requires

try:
    from testcontainers.core.container import DockerContainer
    from testcontainers.core.wait_strategies import HttpWaitStrategy
except ModuleNotFoundError as error:
    raise ImportError(requires("kafka_shim.testing.testcontainers", "testcontainers")) from error

IMAGE = "ghcr.io/kafka-shim/kafka-shim:0.1.0"
_CONTROL_PORT = 8082
_LISTENERS = {"PLAINTEXT": 9092, "SASL_PLAINTEXT": 9093}


class KafkaShimContainer(DockerContainer):
    """A container with a broker: where `PLAINTEXT`, everything is allowed; where `SASL_PLAINTEXT`,
    users log in and ACLs decide.
    """

    def __init__(self, image: str = IMAGE, **options: Any) -> None:
        super().__init__(image, **options)
        self._settings: dict[str, Any] = {
            "super_users": ["User:ANONYMOUS"],  # who connects to PLAINTEXT, also if there are ACLs
            "users": {}, "topics": {}, "acls": [], "properties": {},
        }  # fmt: skip
        self._token = secrets.token_hex(16)
        self._control: HttpControl | None = None
        self._path = ""
        self.with_exposed_ports(_CONTROL_PORT, *_LISTENERS.values())
        self.with_command(
            f"serve --listener PLAINTEXT://127.0.0.1:0 --control 0.0.0.0:{_CONTROL_PORT}"
            f" --control-token {self._token}"
        )
        self.waiting_for(HttpWaitStrategy(_CONTROL_PORT, "/health").for_status_code(200))

    def with_kafka_version(self, release: str) -> Self:
        """Behave as this Kafka release, such as "3.9"."""
        return self.with_setting("kafka_version", release)

    def with_user(self, name: str, password: str) -> Self:
        """Add a user, who logs in at the listener SASL_PLAINTEXT."""
        self._settings["users"][name] = password
        return self

    def with_topic(self, name: str, partitions: int = 1) -> Self:
        """Add a topic."""
        self._settings["topics"][name] = partitions
        return self

    def with_acl(self, **rule: Any) -> Self:
        """Add an ACL: `with_acl(principal="User:alice", allow=["Write"], topic="orders")`."""
        self._settings["acls"].append(rule)
        return self

    def with_setting(self, key: str, value: Any) -> Self:
        """Set any key of the body of `POST /brokers`."""
        self._settings[key] = value
        return self

    def start(self) -> Self:
        """Start the container, wait for it, and create the broker."""
        super().start()
        self._control = HttpControl(self._address(_CONTROL_PORT), self._token)
        listeners = [f"{name}://0.0.0.0:{port}" for name, port in _LISTENERS.items()]
        advertised = [f"{name}://{self._address(port)}" for name, port in _LISTENERS.items()]
        properties = self._settings["properties"] | {"advertised.listeners": ",".join(advertised)}
        body = self._settings | {"listeners": listeners, "properties": properties}
        created = self._control.call("POST", "/brokers", {}, body)
        self._path = created["path"]
        warn_at_caller(created["warnings"])
        return self

    def get_bootstrap_server(self, listener: str = "PLAINTEXT") -> str:
        """Return the address of a listener."""
        return self._address(_LISTENERS[listener])

    def config(self, user: str | None = None) -> dict[str, str]:
        """Return settings of librdkafka for this user; without a user, those of PLAINTEXT."""
        if user is None:
            return {"bootstrap.servers": self.get_bootstrap_server()}
        return {
            "bootstrap.servers": self.get_bootstrap_server("SASL_PLAINTEXT"),
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": user,
            "sasl.password": self._settings["users"][user],
        }

    def call(
        self, method: str, path: str, body: Any = None, query: Mapping[str, str] | None = None
    ) -> Any:
        """Call the control API of the broker: `call("GET", "/topics")`."""
        assert self._control is not None, "the container is not started"
        result = self._control.call(method, self._path + path, query or {}, body)
        if isinstance(result, dict):
            warn_at_caller(result.get("warnings", ()))
        return result

    def _address(self, port: int) -> str:
        return f"{self.get_container_host_ip()}:{self.get_exposed_port(port)}"
