"""Markers by which a Kubernetes-like resource says that its ACLs do not exist, or are not kept."""

from collections.abc import Mapping
from typing import Any

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.policy.formats.documents import mapping_under_key
from kafka_shim.policy.formats.values_with_lines import line_of_mapping

DELETED = "jikkou.io/delete"
"""jikkou's annotation of a resource that it is to delete."""


def is_marked_for_deletion(resource: Mapping[str, Any]) -> bool:
    """Return whether jikkou is to delete the resource, or Kubernetes deletes it already."""
    metadata = mapping_under_key(resource, "metadata", "resource")
    return _is_annotated_true(resource, DELETED) or bool(metadata.get("deletionTimestamp"))


def reject_paused_resource(resource: Mapping[str, Any], annotation: str, where: str) -> None:
    """Raise AclTextError if the annotation keeps the tool from applying the resource.

    The ACLs in the cluster are then those from before, which the resource does not show.
    """
    if _is_annotated_true(resource, annotation):
        raise AclTextError(
            f"{where}: `{annotation}` is set, so its ACLs are not applied, and those in the cluster"
            " are unknown; remove the annotation, or the resource",
            line_of_mapping(resource.get("metadata")),
        )


def _is_annotated_true(resource: Mapping[str, Any], annotation: str) -> bool:
    metadata = mapping_under_key(resource, "metadata", "resource")
    annotations = mapping_under_key(metadata, "annotations", "resource: `metadata`")
    return str(annotations.get(annotation, "false")).lower() == "true"
