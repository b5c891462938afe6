"""Create the authorizer of a configuration: Kafka's, none, or a user's class."""

from collections.abc import Mapping
from importlib import import_module
from inspect import isclass
from typing import cast

from kafka_shim.authorizer.acl_rules import NEWEST_RULES, AclRules
from kafka_shim.authorizer.authorizer import Authorizer, StandardAuthorizer

STANDARD_AUTHORIZER_NAMES = frozenset(
    {
        "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "kafka.security.authorizer.AclAuthorizer",
        "kafka.security.auth.SimpleAclAuthorizer",
        "standard",
    }
)
"""Values of `authorizer.class.name` that mean StandardAuthorizer."""

_METHODS = (
    "configure",
    "authorize",
    "authorize_by_resource_type",
    "create_acls",
    "delete_acls",
    "acls",
)


def load_authorizer(
    authorizer_class_name: str, config: Mapping[str, str], rules: AclRules = NEWEST_RULES
) -> Authorizer | None:
    """Create the authorizer that `authorizer.class.name` names; None for no authorizer.

    The name is empty or `none`, `standard` or the name of one of Kafka's classes (all of them mean
    StandardAuthorizer here), or `package.module:Class`. Raise ValueError if it is invalid.
    """
    authorizer_class_name = authorizer_class_name.strip()
    if authorizer_class_name in ("", "none"):
        return None
    authorizer = (
        StandardAuthorizer(rules=rules)
        if authorizer_class_name in STANDARD_AUTHORIZER_NAMES
        else _import_authorizer_class(authorizer_class_name)()
    )
    authorizer.configure(config)
    return authorizer


def _import_authorizer_class(authorizer_class_name: str) -> type[Authorizer]:
    module_name, colon, class_name = authorizer_class_name.partition(":")
    if not (module_name and colon and class_name):
        raise ValueError(
            f"unknown authorizer `{authorizer_class_name}` (authorizer.class.name), which decides"
            " what is allowed: expected `standard`, `none`, the name of one of Kafka's authorizer"
            " classes, or `package.module:Class` for a Python class of your own; to allow"
            " everything, set -c authorizer.class.name="
        )
    try:
        module = import_module(module_name)
    except ImportError as error:
        raise ValueError(
            f"cannot import the authorizer `{authorizer_class_name}`: {error}"
        ) from error
    authorizer_class = getattr(module, class_name, None)
    if not isclass(authorizer_class):
        raise ValueError(
            f"the module `{module_name}` has no class `{class_name}` for the authorizer"
        )
    missing = [name for name in _METHODS if not callable(getattr(authorizer_class, name, None))]
    if missing:
        raise ValueError(f"the authorizer `{authorizer_class_name}` lacks {', '.join(missing)}")
    return cast("type[Authorizer]", authorizer_class)
