"""Carry out a plan in a cluster: one request after the other, with progress, and back again."""

from collections.abc import Iterable, Sequence

import msgspec

from kafka_shim.authorizer.remedy import Step
from kafka_shim.client.acls import create_acls, delete_acls
from kafka_shim.client.client import Client
from kafka_shim.policy.plan import StepGroup


def send_steps_in_one_request(client: Client, steps: Sequence[Step]) -> None:
    """Send one request with steps that all add or all remove. Raise ClientError if it fails."""
    acls = [step.acl for step in steps]
    if steps[0].is_addition:
        create_acls(client, acls)
    else:
        delete_acls(client, [acl.to_exact_filter() for acl in acls])


def inverse_requests(requests: Iterable[Sequence[Step]]) -> list[StepGroup]:
    """Return the requests that undo these, in reverse order."""
    return [
        tuple(
            msgspec.structs.replace(step, is_addition=not step.is_addition)
            for step in reversed(request)
        )
        for request in reversed(list(requests))
    ]
