"""Check whether content has ACLs that are not read, that do not exist, or that are not kept."""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from kafka_shim.authorizer.acl_names import AclTextError, camel_case
from kafka_shim.policy.formats.documents import (
    RESOURCE_KEYS,
    check_keys_are_known,
    line_of_mapping,
    mapping_under_key,
)
from kafka_shim.protocol.enums import Operation

_KEY = re.compile(r"(?:.*[-_])?acls?|.*Acls?", re.DOTALL)
_WORDS = re.compile(
    r"kafka-acls|(?:Current|Adding) ACLs for|KafkaPrincipal,|StandardAcl|/kafka-acl(?:-extended)?/"
    r"|\bkind[\"']?\s*[:=]\s*[\"']?Kafka(?:User|Principal)|\w*kafka_acl\b"
)
_ANYWHERE = frozenset({"principal", "principals", "allow", "deny", "produces", "consumes"})
"""Keys that files of ACLs have, of any tool, and few others."""
_ABOUT_KAFKA = re.compile("kafka|redpanda|aiven")
_OF_KAFKA = frozenset({"principal", "principals", "permission", "permissions"})
_RESOURCES = frozenset({"topic", "topics", "group", "groups", "user", "users"})
_OPERATIONS = frozenset(
    camel_case(member).lower() for member in Operation if member > Operation.ANY
)
_SCHEMAS = ("CustomResourceDefinition",)
"""Kinds that say how resources look."""


def mentions_acls(text: str) -> bool:
    """Return whether a text contains words of an ACL format."""
    return _WORDS.search(text) is not None


def resources_of_kinds(
    resources: list[Mapping[str, Any]], kinds: tuple[str, ...]
) -> list[Mapping[str, Any]]:
    """Return the resources of these kinds. Raise AclTextError for another one that may contain
    ACLs.
    """
    resources_of_format, errors = [], list[AclTextError]()
    for resource in resources:
        kind = resource.get("kind")
        if kind in kinds:
            reject_misspelt_keys(resource, RESOURCE_KEYS, "resource")
            resources_of_format.append(resource)
        elif (sign := describe_sign_of_acls(resource)) is not None:
            said = f"unknown kind `{kind}`: expected {' or '.join(kinds)}; {sign}"
            errors.append(AclTextError(said, line_of_mapping(resource)))
    if errors:
        raise AclTextError(errors[0].message, errors[0].line, errors[1:])
    return resources_of_format


def reject_misspelt_keys(parent: Mapping[str, Any], known: Sequence[str], where: str) -> None:
    """Raise AclTextError for unknown keys that resemble a known one, or have content about ACLs.

    Other unknown keys are of a tool's version, and do not matter.
    """
    harmless = [
        key
        for key, value in parent.items()
        if not get_close_matches(str(key), known, n=1)
        and describe_sign_of_acls({key: value}) is None
    ]
    check_keys_are_known(parent, known, where, ignored=harmless)


def describe_sign_of_acls(document: Any) -> str | None:
    """Return in words what in a YAML or JSON document may be about ACLs; None for nothing."""
    if isinstance(document, Mapping) and document.get("kind") in _SCHEMAS:
        return None
    suspicious = _suspicious_keys(document)
    words: set[str] = set()
    keys: set[str] = set()
    for value in nested_values(document):
        if isinstance(value, str):
            if mentions_acls(value):
                return f"`{_excerpt(value)}` could be about ACLs"
            words.add(value.lower())
        elif isinstance(value, Mapping):
            keys.update(map(str, value))
    for key in sorted(keys):
        if _KEY.fullmatch(key) or key in suspicious or mentions_acls(key):
            return f"its key `{key}` could be about ACLs"
    if not suspicious.isdisjoint(_ANYWHERE) and keys & _RESOURCES and words & _OPERATIONS:
        return f"`{min(words & _OPERATIONS)}` could be an operation"
    return None


def _suspicious_keys(document: Any) -> frozenset[str]:
    """Return the keys that point to ACLs; a Kubernetes resource has fewer unless it is Kafka's."""
    if not isinstance(document, Mapping) or not {"apiVersion", "kind"} <= set(document):
        return _ANYWHERE
    if _ABOUT_KAFKA.search(str(document["apiVersion"])):
        return _OF_KAFKA
    return frozenset()


def nested_values(value: Any) -> Iterator[Any]:
    """Yield a value, and all values in it."""
    waiting = [value]
    while waiting:
        value = waiting.pop()
        yield value
        if isinstance(value, Mapping):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def _excerpt(text_with_acl_word: str) -> str:
    match = _WORDS.search(text_with_acl_word)
    assert match is not None, "checked before"
    line = text_with_acl_word[: match.end()].rpartition("\n")[2]
    return line.strip()[-60:]


_TEMPLATE = re.compile(r"\{\{.*?\}\}|\$\{\w+.*?\}|\$[A-Z_][A-Z0-9_]*\b", re.DOTALL)
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
