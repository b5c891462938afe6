"""Terraform's language, for resources with text attributes.

Nothing is evaluated: if a relevant attribute is an expression, such as a variable, the text is
rejected with the advice to use `terraform show -json`, whose output is also read.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType
from typing import Any, NamedTuple, cast
from unicodedata import normalize

import msgspec

from kafka_shim.authorizer.acl_names import AclTextError, camel_case
from kafka_shim.authorizer.model import WILDCARD, Acl
from kafka_shim.policy.formats.documents import (
    MappingWithLines,
    check_keys_are_known,
    line_of_key,
    line_of_mapping,
    load_json_with_lines,
)
from kafka_shim.policy.formats.fields import (
    AclTexts,
    AclWithLine,
    ErrorCollector,
    parse_acl_texts,
)
from kafka_shim.policy.formats.signs_of_acls import mentions_acls
from kafka_shim.policy.formats.trace_rule import format_acl_rule
from kafka_shim.protocol.enums import Operation, PatternType, ResourceType
from kafka_shim.text.data_text import json_text

_PLAIN = r'(?:[^"\\\n$%]|\\.|\$\$\{|%%\{|[$%](?!\{))*'
"""Characters of a quoted text that are not an expression."""
_TOKEN = re.compile(
    r"(?P<space>[\s,]+|(?:#|//)[^\n]*|/\*.*?\*/)"
    rf'|(?P<text>"{_PLAIN}")'
    r"|(?P<heredoc><<-?(?P<end>[\w-]+)\r?\n(?:.*?\n)??[ \t]*(?P=end)(?=\s|$))"
    r"|(?P<word>[^\W\d][\w.-]*)"
    r"|(?P<other>[^\s])",
    re.DOTALL,
)
_NOTHING = ("{}", "[]", "toset([])", "0", '"0"')
"""Values of `count` and `for_each` that make nothing."""
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_PART = re.compile(rf"{_PLAIN}(\"|[$%]\{{|$)", re.DOTALL)


class Token(NamedTuple):
    """A token; `kind` is `text` (quoted), `heredoc`, `word` or `other`."""

    kind: str
    text: str
    line: int


class Block(msgspec.Struct, frozen=True):
    """`resource "kafka_acl" "a" { ... }`: a keyword, labels, and the tokens between the braces."""

    keyword: str
    labels: tuple[str, ...]
    body: Sequence[Token]
    line: int


def parse_blocks(text: str) -> Iterator[Block]:
    """Yield the outermost blocks. Raise AclTextError, with the line, for anything else."""
    block_tokens = list(tokenize(text))
    at = 0
    while at < len(block_tokens):
        first, opening = block_tokens[at], at
        while opening < len(block_tokens) and block_tokens[opening].kind in ("word", "text"):
            opening += 1
        if (
            first.kind != "word"
            or opening == len(block_tokens)
            or block_tokens[opening].text != "{"
        ):
            said = f"not Terraform: expected a block such as resource, not `{first.text}`"
            raise AclTextError(said, first.line)
        end = _position_of_block_end(block_tokens, opening)
        labels = tuple(unquote(token.text) or "?" for token in block_tokens[at + 1 : opening])
        yield Block(first.text, labels, block_tokens[opening + 1 : end], first.line)
        at = end + 1


def tokenize(text: str) -> Iterator[Token]:
    at, line = 0, 1
    while at < len(text):
        match = _TOKEN.match(text, at)
        assert match is not None, "any character is a token"
        is_template = match[0] == '"'
        end = _end_of_template(text, at, line) if is_template else match.end()
        if not match["space"]:
            kinds = ("text", "heredoc", "word")
            kind = next((k for k in kinds if match[k]), "text" if is_template else "other")
            yield Token(kind, text[at:end], line)
        line += text.count("\n", at, end)
        at = end


def _end_of_template(text: str, opening: int, line: int) -> int:
    """Return the position behind a quoted text with expressions, which may have quoted texts."""
    at, opened = opening + 1, ['"']
    while opened and at < len(text):
        if opened[-1] == '"':
            part = _PART.match(text, at)
            if part is None or not part[1]:
                break
            at = part.end() - 1
        if text[at] == {'"': '"', "{": "}"}[opened[-1]]:
            opened.pop()
        elif text[at] in '"{':
            opened.append(text[at])
        at += 1
    if opened:
        raise AclTextError("a quoted text is not closed", line)
    return at


def closing_bracket_position(tokens: Sequence[Token], opening: int) -> int:
    """Return the position of the closing bracket, or the end."""
    depth = 0
    for at in range(opening, len(tokens)):
        if tokens[at].kind == "other":
            depth += {"{": 1, "[": 1, "(": 1, "}": -1, "]": -1, ")": -1}.get(tokens[at].text, 0)
        if depth == 0:
            return at
    return len(tokens)


def outer_positions(tokens: Sequence[Token]) -> Iterator[int]:
    """Yield the positions of the tokens that are not in inner brackets."""
    at = 0
    while at < len(tokens):
        if tokens[at].text in ("{", "[", "("):
            at = closing_bracket_position(tokens, at)
        else:
            yield at
        at += 1


def block_count_or_none(block: Block) -> int | None:
    """Return how often a block is made, by `count` or `for_each`; None if that is an expression."""
    tokens = block.body
    for at in outer_positions(tokens):
        if tokens[at].text in ("count", "for_each"):
            line = tokens[at].line
            value = "".join(token.text for token in tokens[at + 2 :] if token.line == line)
            if value in _NOTHING:
                return 0
            return int(value) if value.isdecimal() else None
    return 1


def unquote(token: str) -> str | None:
    """Return the value of a quoted text or a word; None if it contains an expression.

    Raise AclTextError for an escape that Terraform does not have.
    """
    if not token.startswith('"'):
        return token
    text = token[1:-1]
    if re.search(r"(?<!\$)\$\{|(?<!%)%\{", text):
        return None
    text = text.replace("$${", "${").replace("%%{", "%{")
    return normalize("NFC", _ESCAPE.sub(_escaped_character, text))


def _escaped_character(escape: re.Match[str]) -> str:
    digits = escape[1] or escape[2]
    if not digits and escape[3] not in _ESCAPES:
        raise AclTextError(f"Terraform has no escape `{escape[0]}`; a backslash is `\\\\`")
    return chr(int(digits, 16)) if digits else _ESCAPES[escape[3]]


def quote(text: str) -> str:
    return json_text(text, indent=None).replace("${", "$${").replace("%{", "%%{")


def _position_of_block_end(tokens: Sequence[Token], opening: int) -> int:
    depth = 0
    for at in range(opening, len(tokens)):
        if tokens[at].kind == "other":
            depth += {"{": 1, "}": -1}.get(tokens[at].text, 0)
        if depth == 0:
            return at
    raise AclTextError("a block is not closed: a `}` is missing", tokens[opening].line)


_SUPPORTED_TYPES = ("kafka_acl", "confluent_kafka_acl")
_META = ("count", "for_each", "provider", "depends_on")
_ADVICE = "give the output of `terraform show -json`, where it is evaluated"
_HARMLESS = (
    *("terraform", "provider", "variable", "locals", "output", "data", "ephemeral"),
    *("moved", "import", "removed", "check"),
)
"""Blocks that make nothing."""
_ANY_ACL = re.compile("acl", re.IGNORECASE)
_ACL_KEY = re.compile("acls|kafka_acls?")
"""An attribute or block in resources of other tools that grant access to Kafka."""
_ACLS = re.compile(r"(?=.*(?:kafka|redpanda))(?:.*_)?acls?(?:_.*)?")


class TerraformResource(NamedTuple):
    """A resource of a file; an attribute that is an expression is None. Equal texts of `cluster`
    mean the same cluster.
    """

    name: str
    attributes: Mapping[str, str | None]
    line: int
    cluster: str


def parse_acl_resources(
    text: str,
    resource_type: str,
    keys: Sequence[str],
    attributes_of: Callable[[Acl], Mapping[str, str]],
    other_attributes: Sequence[str] = (),
    defaults: Mapping[str, str] = MappingProxyType({}),
) -> list[AclWithLine]:
    """Return the ACLs of all resources of a type.

    `keys` are the attributes of an ACL in the order of `parse_acl_texts`, `defaults` the values of
    those that may be missing. The words must be those of the provider, as in `attributes_of`.
    """
    acls: list[AclWithLine] = []
    mistakes = ErrorCollector()
    first: TerraformResource | None = None
    for resource in parse_resources(text, resource_type, (*keys, *other_attributes), mistakes):
        name, attributes, line, cluster = resource
        first = first or resource
        with mistakes.collect_errors(line):
            if cluster != first.cluster:
                said = f"resource {name}: it is for another cluster than {first.name}"
                raise AclTextError(f"{said}; give the ACLs of one cluster")
            lines = [line_of_key(attributes, key) for key in keys]
            texts = (
                defaults[key]
                if key in defaults and key not in attributes
                else _require_text_attribute(attributes, key, name)
                for key in keys
            )
            parts = cast("AclTexts", tuple(texts))
            acl = parse_acl_texts(parts, f"resource {name}", lines)
            expected = _attributes_of_acl(acl, resource_type, attributes_of)
            for key, part, place in zip(keys, parts, lines, strict=True):
                if part != expected[key]:
                    said = f"`{key}` is `{part}`, but the provider expects `{expected[key]}`"
                    raise AclTextError(f"resource {name}: {said}", place)
            acls.append((acl, line))
    mistakes.raise_collected_errors()
    return acls


def format_acl_resources(
    acls: Iterable[Acl], resource_type: str, attributes_of: Callable[[Acl], Mapping[str, str]]
) -> str:
    """Return a resource for each ACL. Raise AclTextError for an operation that Terraform lacks."""
    blocks = []
    for acl in acls:
        attributes = _attributes_of_acl(acl, resource_type, attributes_of)
        name = terraform_resource_name(acl)
        blocks.append(_format_resource_block(resource_type, name, attributes))
    return "\n".join(blocks)


def _attributes_of_acl(
    acl: Acl, resource_type: str, attributes_of: Callable[[Acl], Mapping[str, str]]
) -> Mapping[str, str]:
    if acl.operation > Operation.IDEMPOTENT_WRITE:
        raise AclTextError(f"{resource_type} has no operation {camel_case(acl.operation)}")
    return attributes_of(acl)


def parse_resources(
    hcl_or_json: str, resource_type: str, known_attributes: Iterable[str], errors: ErrorCollector
) -> Iterator[TerraformResource]:
    """Yield all resources of a type.

    Errors are recorded for resources whose `count` or `for_each` is an expression, for unknown
    attributes, and for unknown types of ACLs. An attribute that is not a text, or contains an
    expression, is None.
    """
    if hcl_or_json.lstrip().startswith("{"):
        yield from _resources_in_terraform_json(hcl_or_json, resource_type)
        return
    with errors.collect_errors():
        for block in parse_blocks(hcl_or_json):
            with errors.collect_errors(block.line):
                if block_count_or_none(block) == 0:
                    continue
                if block.keyword == "resource" and block.labels[:1] == (resource_type,):
                    name = block.labels[1] if len(block.labels) > 1 else "?"
                    attributes = _attributes_of_block(block, name, known_attributes, errors)
                    cluster = _cluster_of_block(block)
                    yield TerraformResource(name, attributes, block.line, cluster)
                else:
                    reject_acl_block(block)


def reject_acl_block(block: Block) -> None:
    """Raise AclTextError for a block that may be about ACLs but is not supported."""
    name = " ".join((block.keyword, *block.labels))
    if block.keyword == "module" and not is_single_local_module(block):
        raise AclTextError(f"{name}: its ACLs cannot be determined; {_ADVICE}")
    if block.keyword not in (*_HARMLESS, "resource", "module"):
        raise AclTextError(f"unknown Terraform block `{block.keyword}`")
    if block.keyword != "resource":
        return
    if "".join(block.labels[:1]) in _SUPPORTED_TYPES:
        raise AclTextError(f"{name}: this type of ACLs cannot be combined with the others")
    if is_acl_resource_type("".join(block.labels[:1])):
        raise AclTextError(
            f"{name}: ACLs of this provider are not read, only {' and '.join(_SUPPORTED_TYPES)};"
            " give what `kafka-acls --list` shows"
        )
    _reject_texts_about_acls(block.body, name)


def _reject_texts_about_acls(tokens: Sequence[Token], name: str) -> None:
    runs_commands = any(token.text == "provisioner" for token in tokens)
    for before, token in zip((Token("", "", 0), *tokens), tokens, strict=False):
        quoted_kind = before.text == "=" and re.fullmatch('"Kafka(User|Principal.*)"', token.text)
        has_acls = _ANY_ACL.search if runs_commands else mentions_acls
        is_text = token.kind in ("text", "heredoc") and (quoted_kind or has_acls(token.text))
        if is_text or (token.kind == "word" and _ACL_KEY.fullmatch(token.text)):
            raise AclTextError(f"{name}: it may contain ACLs; {_ADVICE}", token.line)


def is_acl_resource_type(resource_type: str) -> bool:
    """Return whether a resource type is about Kafka ACLs, in any provider."""
    return _ACLS.fullmatch(resource_type) is not None


def is_single_local_module(block: Block) -> bool:
    """Return whether a module is a folder beside the file that is used once."""
    return is_local_module(block) and block_count_or_none(block) == 1


def is_local_module(block: Block) -> bool:
    """Return whether a module is a folder beside the file."""
    return module_source(block).startswith(("./", "../"))


def module_source(block: Block) -> str:
    """Return the source of a module; empty if it is missing or an expression."""
    tokens = block.body
    sources = [
        tokens[at + 2].text
        for at in outer_positions(tokens[:-2])
        if (tokens[at].text, tokens[at + 1].text) == ("source", "=")
    ]
    return unquote(sources[0]) or "" if sources else ""


def _require_text_attribute(
    attributes: Mapping[str, str | None], key: str, resource_name: str
) -> str:
    """Return a text attribute. Raise AclTextError if it is missing or an expression."""
    if key not in attributes:
        raise AclTextError(f"resource {resource_name}: `{key}` is missing")
    value = attributes[key]
    if value is None:
        said = f"resource {resource_name}: `{key}` is an expression; {_ADVICE}"
        raise AclTextError(said, line_of_key(attributes, key))
    return value


def _format_resource_block(resource_type: str, name: str, attributes: Mapping[str, str]) -> str:
    """Return a resource block with attributes aligned as by `terraform fmt`."""
    width = max(map(len, attributes))
    lines = [f"  {key:<{width}} = {quote(value)}\n" for key, value in attributes.items()]
    return f'resource "{resource_type}" "{name}" {{\n{"".join(lines)}}}\n'


def terraform_resource_name(acl: Acl) -> str:
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
    principal_text = "everyone" if principal == WILDCARD else principal
    operation = camel_case(acl.operation).lower()
    full_name = f"{camel_case(acl.permission).lower()}_{principal_text}_{operation}_{what}"
    full_name += "" if acl.host == WILDCARD else f"_from_{acl.host}"
    name = re.sub(r"[^\w-]", "_", full_name, flags=re.ASCII)
    is_plain = name == full_name and principal_type == "User" and acl.host == WILDCARD
    if is_plain and "_" not in principal_text and principal != "everyone":
        return name
    return f"{name}_{sha256(format_acl_rule(acl).encode()).hexdigest()[:6]}"


def _resources_in_terraform_json(text: str, resource_type: str) -> Iterator[TerraformResource]:
    """Yield resources with values, at any depth, of `terraform show -json` or of a state file."""
    content = load_json_with_lines(text)
    if isinstance(content, dict):
        if not {"resource", "module"}.isdisjoint(content):
            raise AclTextError(f"Terraform's JSON syntax is not read; {_ADVICE}")
        content = content.get("planned_values") or content.get("values", content)
    waiting = [content]
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, list):
            waiting = value + waiting
        elif isinstance(value, dict):
            if value.get("type") == resource_type and value.get("mode") != "data":
                instances = value.get("instances", [{"attributes": value.get("values")}])
                name = str(value.get("address") or value.get("name") or resource_type)
                for instance in instances if isinstance(instances, list) else [instances]:
                    line = line_of_mapping(instance) or line_of_mapping(value)
                    attributes: Any = instance
                    if isinstance(instance, dict):
                        attributes = instance.get("attributes") or {}
                    if not isinstance(attributes, dict):
                        raise AclTextError(f"{name}: the values must be an object", line)
                    cluster = f"{attributes.get('kafka_cluster')} {value.get('provider')}"
                    yield TerraformResource(name, attributes, line, cluster)
            elif _is_other_acl_resource(value):
                said = f"ACLs of the type {value['type']} cannot be combined with {resource_type}"
                raise AclTextError(said, line_of_mapping(value))
            else:
                waiting = list(value.values()) + waiting


def _is_other_acl_resource(value: Mapping[str, Any]) -> bool:
    """Return whether this is a managed resource of ACLs that exists."""
    return (
        value.get("mode") != "data"
        and is_acl_resource_type(str(value.get("type")))
        and bool(value.get("instances", True))
    )


def _cluster_of_block(block: Block) -> str:
    """Return what names the cluster: an alias of the provider, and the block `kafka_cluster`."""
    tokens, parts = block.body, list[str]()
    for at in outer_positions(tokens):
        if tokens[at].text == "provider" and "." in tokens[min(at + 2, len(tokens) - 1)].text:
            parts.append(tokens[at + 2].text)
        elif tokens[at].text == "kafka_cluster":
            end = closing_bracket_position(tokens, at + 1)
            parts += [token.text for token in tokens[at + 1 : end]]
    return " ".join(parts)


def find_clusters(text: str) -> set[str]:
    """Return what names the clusters of a file's ACLs; nothing for an invalid file."""
    try:
        blocks = list(parse_blocks(text))
    except AclTextError:  # the file's own reader reports it
        return set()
    acls = (block for block in blocks if {*block.labels[:1]} & {*_SUPPORTED_TYPES})
    return {
        _cluster_of_block(block)
        for block in acls
        if block.keyword == "resource" and block_count_or_none(block) != 0
    }


def _attributes_of_block(
    block: Block, resource_name: str, known: Iterable[str], mistakes: ErrorCollector
) -> MappingWithLines:
    """Return the attributes of the block, without those of inner blocks."""
    attributes = MappingWithLines()
    attributes.line, attributes.lines = block.line, {}
    tokens, at = block.body, 0
    while at < len(tokens):
        key = tokens[at].text
        if key in ("{", "[", "("):
            end = closing_bracket_position(tokens, at)
            with mistakes.collect_errors():
                _reject_texts_about_acls(tokens[at:end], f"resource {resource_name}")
            at = end
        elif _is_attribute_name_at(tokens, at):
            attributes.lines[key] = tokens[at].line
            with mistakes.collect_errors(tokens[at].line):
                if key in attributes:
                    raise AclTextError(f"resource {resource_name}: `{key}` is there twice")
                check_keys_are_known([key], (*known, *_META), f"resource {resource_name}")
                if key in ("count", "for_each") and block_count_or_none(block) is None:
                    raise AclTextError(
                        f"resource {resource_name}: `{key}` is an expression; {_ADVICE}"
                    )
            attributes[key] = _text_value_or_none(tokens, at + 2)
            at += 1
        at += 1
    return attributes


def _text_value_or_none(tokens: Sequence[Token], position: int) -> str | None:
    """Return the text that begins here if it is the whole value, else None."""
    if position >= len(tokens) or tokens[position].kind != "text":
        return None
    ends = position + 1 >= len(tokens) or tokens[position + 1].kind == "word"
    return unquote(tokens[position].text) if ends else None


def _is_attribute_name_at(tokens: Sequence[Token], position: int) -> bool:
    """Return whether a word is an attribute's name and not an operand of `==`."""
    signs = [token.text for token in tokens[position + 1 : position + 3]]
    return tokens[position].kind == "word" and signs[:1] == ["="] and signs[1:] != ["="]
