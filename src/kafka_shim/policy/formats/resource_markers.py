"""Markers by which a Kubernetes-like resource says that its ACLs do not exist, or are not kept."""

import re
from collections.abc import Mapping
from typing import Any

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.policy.formats.documents import mapping_under_key
from kafka_shim.policy.formats.signs_of_acls import nested_values
from kafka_shim.policy.formats.values_with_lines import line_of_mapping

_TEMPLATE = re.compile(r"\{\{.*?\}\}|\$\{\w+.*?\}", re.DOTALL)
"""What Helm, Jinja, or a substitution of variables replaces."""
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


def reject_templates(resource: Mapping[str, Any], where: str) -> None:
    """Raise AclTextError if a template engine has yet to make the resource's values."""
    parts = (resource.get("metadata", {}).get("name"), resource.get("spec"))
    for value in (value for part in parts for value in nested_values(part)):
        if isinstance(value, str) and (template := _TEMPLATE.search(value)) is not None:
            raise AclTextError(f"{where}: `{template[0]}` is a template: give the file it makes")


def _is_annotated_true(resource: Mapping[str, Any], annotation: str) -> bool:
    metadata = mapping_under_key(resource, "metadata", "resource")
    annotations = mapping_under_key(metadata, "annotations", "resource: `metadata`")
    value = str(annotations.get(annotation, "false")).lower()
    if value not in ("true", "false"):
        said = f"resource: the annotation `{annotation}` must be true or false, not `{value}`"
        raise AclTextError(said, line_of_mapping(annotations))
    return value == "true"
