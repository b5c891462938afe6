"""Reduce Docker Compose files to what their services run.

Compose merges files and documents, and starts some services only if it is told to. Whether such
commands run is not known: `docker compose config` prints what Compose makes of its files.
"""

from collections.abc import Mapping
from typing import Any, Final

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.policy.formats.documents import ListWithLines, line_of_key, line_of_mapping
from kafka_shim.policy.formats.other_files import is_compose_file
from kafka_shim.policy.formats.signs_of_acls import describe_sign_of_acls

_RUN: Final = ("services", "configs")
_NOT_RUN: Final = ("labels", "annotations")
_ADVICE: Final = "give what `docker compose config` prints"


def reduce_compose_files(documents: list[Any]) -> list[Any]:
    """Return the documents, a Compose file without extensions and labels. Raise AclTextError for
    commands that Compose may not run, and for parts in other files.
    """
    if not any(map(_is_compose_mapping, documents)):
        return documents
    if len(documents) > 1:
        said = f"Compose merges the documents of a file: {_ADVICE}"
        raise AclTextError(said, line_of_mapping(documents[1]))
    [document] = documents
    if "include" in document:
        said = f"`include` is not evaluated: {_ADVICE}"
        raise AclTextError(said, line_of_key(document, "include"))
    _remove_keys(document, [key for key in document if key not in _RUN])
    for name, service in document["services"].items():
        if isinstance(service, Mapping):
            _remove_keys(service, [key for key in service if _is_text_key(str(key))])
            _reject_doubtful_service(str(name), service)
            _list_variables(service)
    return documents


def _is_compose_mapping(document: Any) -> bool:
    return isinstance(document, Mapping) and is_compose_file(document)


def _is_text_key(key: str) -> bool:
    return key.startswith("x-") or key in _NOT_RUN


def _remove_keys(mapping: Any, keys: list[Any]) -> None:
    for key in keys:
        del mapping[key]


def _reject_doubtful_service(name: str, service: Mapping[Any, Any]) -> None:
    """Raise AclTextError if a service has commands in another file, or may not be started."""
    extends = service.get("extends")
    if isinstance(extends, Mapping) and "file" in extends:
        said = f"service {name}: `extends` is not evaluated: {_ADVICE}"
        raise AclTextError(said, line_of_key(service, "extends"))
    deploy = service.get("deploy")
    replicas = deploy.get("replicas") if isinstance(deploy, Mapping) else None
    doubts = {"profiles": bool(service.get("profiles")), "scale": service.get("scale") == 0}
    doubts["deploy"] = replicas == 0
    for key, is_doubtful in doubts.items():
        if is_doubtful and describe_sign_of_acls(service) is not None:
            said = f"service {name}: whether it runs depends on `{key}`: {_ADVICE}"
            raise AclTextError(said, line_of_key(service, key))


def _list_variables(service: Any) -> None:
    """Replace a mapping of variables, whose values are not commands, by the list of Compose."""
    variables = service.get("environment")
    if isinstance(variables, Mapping):
        texts = ListWithLines(f"{name}={value}" for name, value in variables.items())
        texts.lines = [line_of_key(variables, str(name)) for name in variables]
        service["environment"] = texts
