"""The errors of the control API."""

from kafka_shim.authorizer.authorizer import Authorizer
from kafka_shim.shim.state.cluster import Cluster


class ControlError(Exception):
    """An error with its HTTP `status` and a text."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


def authorizer_or_409(cluster: Cluster) -> Authorizer:
    """Return the cluster's authorizer; ControlError if there is none."""
    authorizer = cluster.policy.authorizer
    if authorizer is None:
        raise ControlError(409, "the broker has no authorizer, so it has no ACLs")
    return authorizer
