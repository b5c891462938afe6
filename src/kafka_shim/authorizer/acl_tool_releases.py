"""Changes of the output of kafka-acls between releases, in the form of `protocol.releases`.

They were measured with the tool of 0.11, 1.1, 2.0 to 2.8, 3.3, 3.6 to 4.1 and 4.3.
"""

from enum import Enum
from functools import cache

import msgspec

from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.releases.change import Change, apply_changes_up_to_release


class ResourceHeadingForm(Enum):
    """The tool's forms for a resource."""

    TYPE = "Topic:orders"
    TYPE_AND_PATTERN = "Topic:LITERAL:orders"
    RESOURCE_PATTERN = "ResourcePattern(resourceType=TOPIC, name=orders, patternType=LITERAL)"


class AclToolOutput(msgspec.Struct, frozen=True):
    """The output of the tool; entries are objects, `(principal=...)`,
    or sentences, `... has ...`.
    """

    heading: ResourceHeadingForm = ResourceHeadingForm.TYPE
    lists_entries_as_objects: bool = False
    prints_added_entries_as_objects: bool = False
    lists_acls_after_changes: bool = True
    padding: str = " "
    """Before the first line of a list's entries, and behind the last one."""
    lists_named_resources_without_acls: bool = True
    """A resource that the options name is listed even if it has no ACLs."""
    producer_creates_by_cluster_acl: bool = True
    """`--producer` lets topics be created by the cluster, not by their own name."""


CHANGES: tuple[Change, ...] = (
    Change(
        "2.0",
        "KIP-290",
        heading=ResourceHeadingForm.TYPE_AND_PATTERN,
        lists_named_resources_without_acls=False,
    ),
    Change("2.0", "KIP-277", producer_creates_by_cluster_acl=False),
    Change(
        "2.1",
        "KIP-332",
        heading=ResourceHeadingForm.RESOURCE_PATTERN,
        lists_entries_as_objects=True,
    ),
    Change("2.4", "KIP-504", prints_added_entries_as_objects=True),
    Change("3.9", "KAFKA-16643", lists_acls_after_changes=False),
    Change("4.0", "rewritten in Java", padding=""),
)


@cache
def acl_tool_output_of_release(release: str) -> AclToolOutput:
    """Return the tool of a release such as `2.8` or `4.3.1`."""
    return apply_changes_up_to_release(AclToolOutput(), CHANGES, release)


NEWEST_TOOL = acl_tool_output_of_release(RELEASES[-1])
