"""Steps of a remedy as kafka-acls commands and as JSON objects."""

from typing import Any

from kafka_shim.authorizer.model import acl_to_object
from kafka_shim.authorizer.remedy import Step
from kafka_shim.policy.formats.kafka_commands import format_command


def step_command(step: Step, bootstrap_server: str | None = None) -> str:
    """Return the kafka-acls command that does it."""
    return format_command(f"--{step.verb}", step.acl, bootstrap=bootstrap_server)


def step_object(step: Step) -> dict[str, Any]:
    return {"action": step.verb, "acl": acl_to_object(step.acl)}
