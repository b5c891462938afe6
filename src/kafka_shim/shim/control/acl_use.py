"""The use of ACLs by the requests that are kept."""

from typing import Any

from kafka_shim.authorizer.model import Acl, acls_to_objects
from kafka_shim.shim.observing.request_history import History


def acl_use(history: History) -> dict[str, Any]:
    """Return the ACLs that decided about kept requests, how often and when for the last time.

    An ACL that is missing decided about none of them, since `since_us`.
    """
    uses: dict[Acl, tuple[int, int]] = {}
    since_us = None
    for entry in history:
        since_us = since_us or entry.time_us
        for record in entry.records:
            acl = record.decision.acl
            if acl is not None:
                uses[acl] = uses.get(acl, (0, 0))[0] + 1, entry.time_us
    rows = [
        {"acl": acl, "decisions": count, "last_used_us": last_us}
        for acl, (count, last_us) in zip(acls_to_objects(uses), uses.values(), strict=True)
    ]
    return {"acls": rows, "since_us": since_us, "last": history.last_number}
