"""Changes of the output of kafka-acls between releases, in the form of `protocol.releases`.

They were measured with the tool of 0.11, 1.1, 2.0 to 2.8, 3.3, 3.6 to 4.1 and 4.3.
"""

from enum import Enum
from functools import cache

import msgspec

from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.releases.change import Change, apply_changes


class Heading(Enum):
    """The tool's forms for a resource."""

    TYPE = "Topic:orders"
    TYPE_AND_PATTERN = "Topic:LITERAL:orders"
    RESOURCE_PATTERN = "ResourcePattern(resourceType=TOPIC, name=orders, patternType=LITERAL)"


class AclTool(msgspec.Struct, frozen=True):
    """The output of the tool; entries are objects, `(principal=...)`,
    or sentences, `... has ...`.
    """

    heading: Heading
    objects_listed: bool
    objects_added: bool
    lists_after_changes: bool
    padding: str
    """Before the first line of a list's entries, and behind the last one."""
    lists_empty: bool
    """A resource that the options name is listed even if it has no ACLs."""
    cluster_creates: bool
    """`--producer` lets topics be created by the cluster, not by their own name."""


OLDEST_TOOL = AclTool(
    heading=Heading.TYPE,
    objects_listed=False,
    objects_added=False,
    lists_after_changes=True,
    padding=" ",
    lists_empty=True,
    cluster_creates=True,
)
"""Of 0.11."""

CHANGES: tuple[Change, ...] = (
    Change("2.0", "KIP-290", heading=Heading.TYPE_AND_PATTERN, lists_empty=False),
    Change("2.0", "KIP-277", cluster_creates=False),
    Change("2.1", "KIP-332", heading=Heading.RESOURCE_PATTERN, objects_listed=True),
    Change("2.4", "KIP-504", objects_added=True),
    Change("3.9", "KAFKA-16643", lists_after_changes=False),
    Change("4.0", "rewritten in Java", padding=""),
)


@cache
def acl_tool_of(release: str) -> AclTool:
    """Return the tool of a release such as `2.8` or `4.3.1`."""
    return apply_changes(OLDEST_TOOL, CHANGES, release)


NEWEST_TOOL = acl_tool_of(RELEASES[-1])
