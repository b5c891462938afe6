"""List ACLs in time slices."""

from kafka_shim.authorizer.authorizer import Authorizer, StandardAuthorizer
from kafka_shim.authorizer.model import Acl, AclFilter
from kafka_shim.authorizer.store import TimeSlicer


def matching_acls(
    authorizer: Authorizer, acl_filter: AclFilter, time_sliced: TimeSlicer
) -> list[Acl]:
    """Return the ACLs that the filter selects.

    Kafka's own authorizer can change in between. The collections of others may not.
    """
    acls = authorizer.acls(acl_filter)
    return list(time_sliced(acls) if isinstance(authorizer, StandardAuthorizer) else acls)
