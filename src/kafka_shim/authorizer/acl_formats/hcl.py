"""Terraform's language, for resources with text attributes.

Nothing is evaluated: if a relevant attribute is an expression, such as a variable, the text is
rejected with the advice to use `terraform show -json`, whose output is also read.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from kafka_shim.authorizer.acl_formats.bystanders import mentions_acls
from kafka_shim.authorizer.acl_formats.documents import known_keys
from kafka_shim.authorizer.acl_formats.fields import Mistakes
from kafka_shim.authorizer.acl_formats.hcl_blocks import (
    Block,
    Token,
    blocks,
    end_of_group,
    quoted,
    unquoted,
)
from kafka_shim.authorizer.acl_formats.json_lines import load_json
from kafka_shim.authorizer.acl_formats.lines import Lined, line_of, line_under
from kafka_shim.authorizer.acl_formats.trace_rule import acl_rule
from kafka_shim.authorizer.acl_names import AclTextError, camel_case
from kafka_shim.authorizer.model import WILDCARD, Acl
from kafka_shim.protocol.enums import PatternType, ResourceType

_META = ("count", "for_each", "provider", "depends_on")
_ADVICE = "give the output of `terraform show -json`, where it is evaluated"
_HARMLESS = (
    *("terraform", "provider", "variable", "locals", "output", "data", "ephemeral"),
    *("moved", "import", "removed", "check"),
)
"""Blocks that make nothing."""
_ACLS = re.compile(r"(?=.*(?:kafka|redpanda))(?:.*_)?acls?(?:_.*)?")


def resources_of(
    text: str, kind: str, known: Iterable[str], mistakes: Mistakes
) -> Iterator[tuple[str, Mapping[str, str], int]]:
    """Yield name, attributes (texts with their lines) and line of all resources of a kind.

    Errors are recorded for resources with `count` or `for_each`, for unknown attributes, and for
    unknown types of ACLs. An attribute that is not a text, or contains an expression, is None.
    """
    if text.lstrip().startswith("{"):
        yield from _from_json(text, kind)
        return
    with mistakes.at():
        for block in blocks(text):
            with mistakes.at(block.line):
                if block.keyword == "resource" and block.labels[:1] == (kind,):
                    name = block.labels[1] if len(block.labels) > 1 else "?"
                    yield name, _attributes(block, name, known, mistakes), block.line
                else:
                    check_bystander(block)


def check_bystander(block: Block) -> None:
    """Raise AclTextError for a block that may be about ACLs but is not supported."""
    name = " ".join((block.keyword, *block.labels))
    if block.keyword == "module" and not is_local(block):
        raise AclTextError(f"{name}: its ACLs cannot be determined; {_ADVICE}")
    if block.keyword not in (*_HARMLESS, "resource", "module"):
        raise AclTextError(f"unknown Terraform block `{block.keyword}`")
    if block.keyword != "resource":
        return
    if is_acl_type("".join(block.labels[:1])):
        raise AclTextError(
            f"{name}: this type of ACLs cannot be combined with the others, or is unsupported"
        )
    for before, token in zip((Token("", "", 0), *block.body), block.body, strict=False):
        quoted_kind = before.text == "=" and re.fullmatch('"Kafka(User|Principal.*)"', token.text)
        if token.kind in ("text", "heredoc") and (quoted_kind or mentions_acls(token.text)):
            raise AclTextError(f"{name}: it may contain ACLs; {_ADVICE}", token.line)


def is_acl_type(kind: str) -> bool:
    """Return whether a resource type is about Kafka ACLs, in any provider."""
    return _ACLS.fullmatch(kind) is not None


def is_local(block: Block) -> bool:
    """Return whether a module is a folder beside the file that is used once."""
    return source_of(block).startswith(("./", "../")) and not any(
        token.text in ("count", "for_each") for token in block.body
    )


def source_of(block: Block) -> str:
    """Return the source of a module; empty if it is missing or an expression."""
    values = {
        key.text: value.text
        for key, sign, value in zip(block.body, block.body[1:], block.body[2:], strict=False)
        if sign.text == "="
    }
    return unquoted(values.get("source", '""')) or ""


def attribute(attributes: Mapping[str, str | None], key: str, name: str) -> str:
    """Return a text attribute; AclTextError if it is missing or an expression."""
    if key not in attributes:
        raise AclTextError(f"resource {name}: `{key}` is missing")
    value = attributes[key]
    if value is None:
        said = f"resource {name}: `{key}` is an expression; {_ADVICE}"
        raise AclTextError(said, line_under(attributes, key))
    return value


def resource(kind: str, name: str, attributes: Mapping[str, str]) -> str:
    """Return a resource block with attributes aligned as by `terraform fmt`."""
    width = max(map(len, attributes))
    lines = [f"  {key:<{width}} = {quoted(value)}\n" for key, value in attributes.items()]
    return f'resource "{kind}" "{name}" {{\n{"".join(lines)}}}\n'


def name_of(acl: Acl) -> str:
    """Return a name for an ACL's resource that depends only on the ACL, so that it does not change.

    Examples are `allow_alice_read_topic_orders`, `topics_orders-` for a prefix, and `every-topic`
    for `*`. If that is not unique, a part of a checksum is appended.
    """
    principal_type, _, principal = acl.principal.partition(":")
    kind = camel_case(acl.resource_type).lower()
    if acl.resource_type is ResourceType.CLUSTER:
        what = kind
    elif acl.resource_name == WILDCARD and acl.pattern_type is PatternType.LITERAL:
        what = f"every-{kind}"
    else:
        plural = "s" if acl.pattern_type is PatternType.PREFIXED else ""
        what = f"{kind}{plural}_{acl.resource_name}"
    who = "everyone" if principal == WILDCARD else principal
    operation = camel_case(acl.operation).lower()
    said = f"{camel_case(acl.permission).lower()}_{who}_{operation}_{what}"
    said += "" if acl.host == WILDCARD else f"_from_{acl.host}"
    name = re.sub(r"[^\w-]", "_", said, flags=re.ASCII)
    is_plain = name == said and principal_type == "User" and acl.host == WILDCARD
    if is_plain and "_" not in who and principal != "everyone":
        return name
    return f"{name}_{sha256(acl_rule(acl).encode()).hexdigest()[:6]}"


def _from_json(text: str, kind: str) -> Iterator[tuple[str, Mapping[str, Any], int]]:
    """Yield resources with values, at any depth, of `terraform show -json` or of a state file."""
    content = load_json(text)
    waiting = [content.get("values", content) if isinstance(content, dict) else content]
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, list):
            waiting = value + waiting
        elif isinstance(value, dict):
            if value.get("type") == kind:
                instances = value.get("instances") or [{"attributes": value.get("values")}]
                name = str(value.get("address") or value.get("name"))
                for instance in instances if isinstance(instances, list) else [instances]:
                    line = line_of(instance) or line_of(value)
                    attributes: Any = instance
                    if isinstance(instance, dict):
                        attributes = instance.get("attributes") or {}
                    if not isinstance(attributes, dict):
                        raise AclTextError(f"{name}: the values must be an object", line)
                    yield name, attributes, line
            else:
                waiting = list(value.values()) + waiting


def _attributes(block: Block, name: str, known: Iterable[str], mistakes: Mistakes) -> Lined:
    """Return the attributes of the block, without those of inner blocks."""
    found = Lined()
    found.line, found.lines = block.line, {}
    tokens, at = block.body, 0
    while at < len(tokens):
        key = tokens[at].text
        if key in ("{", "[", "("):
            at = end_of_group(tokens, at)
        elif _is_assigned(tokens, at):
            found.lines[key] = tokens[at].line
            with mistakes.at(tokens[at].line):
                known_keys([key], (*known, *_META), f"resource {name}")
                if key in ("count", "for_each"):
                    raise AclTextError(f"resource {name}: `{key}` is an expression; {_ADVICE}")
            found[key] = _value(tokens, at + 2)
            at += 1
        at += 1
    return found


def _value(tokens: Sequence[Token], at: int) -> str | None:
    """Return the text that begins here if it is the whole value, else None."""
    if at >= len(tokens) or tokens[at].kind != "text":
        return None
    ends = at + 1 >= len(tokens) or tokens[at + 1].kind == "word"
    return unquoted(tokens[at].text) if ends else None


def _is_assigned(tokens: Sequence[Token], at: int) -> bool:
    """Return whether a word is an attribute's name and not an operand of `==`."""
    signs = [token.text for token in tokens[at + 1 : at + 3]]
    return tokens[at].kind == "word" and signs[:1] == ["="] and signs[1:] != ["="]
