"""Terraform's language, as far as resources need it whose attributes are texts.

Nothing is evaluated: where an attribute that matters is an expression, say a variable, the text is
refused, and `terraform show -json`, where all is evaluated, is asked for; that is read too.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kafka_shim.authorizer.acl_formats.documents import known_keys
from kafka_shim.authorizer.acl_formats.fields import at_line
from kafka_shim.authorizer.acl_formats.json_lines import load_json
from kafka_shim.authorizer.acl_formats.lines import line_of
from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import Acl

_TOKEN = re.compile(
    r"(?P<space>[\s,]+|(?:#|//)[^\n]*|/\*.*?\*/)"
    r'|(?P<text>"(?:[^"\\\n]|\\.)*")'
    r"|(?P<heredoc><<-?(?P<end>\w+)\n.*?\n[ \t]*(?P=end)\b)"
    r"|(?P<word>[^\W\d][\w.-]*)"
    r"|(?P<other>[^\s])",
    re.DOTALL,
)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
_META = ("count", "for_each", "provider", "depends_on")
_ADVICE = "give the output of `terraform show -json`, where it is evaluated"

Tokens = list[tuple[str, str, int]]
"""What each is, its text, and its line."""


def resources_of(
    text: str, kind: str, known: Iterable[str]
) -> Iterator[tuple[str, Mapping[str, str], int]]:
    """Name, attributes (texts only) and line of all resources of a kind.

    AclTextError where a resource is made by `count` or `for_each`, or has an unknown attribute.
    An attribute that is no text, or one with an expression in it, is None.
    """
    if text.lstrip().startswith("{"):
        yield from _from_json(text, kind)
        return
    tokens = list(_tokens(text))
    at = 0
    while at < len(tokens):
        head = [value for _, value, _ in tokens[at : at + 4]]
        if len(head) == 4 and head[0] == "resource" and head[3] == "{":
            line = tokens[at][2]
            with at_line(line):
                end = _end_of_block(tokens, at + 3)
                if _unquoted(head[1]) == kind:
                    name = _unquoted(head[2]) or "?"
                    yield name, _attributes(tokens[at + 4 : end], name, known), line
            at = end
        at += 1


def attribute(attributes: Mapping[str, str | None], key: str, name: str) -> str:
    """A text; AclTextError if it is not there or is an expression."""
    if key not in attributes:
        raise AclTextError(f"resource {name}: `{key}` is missing")
    value = attributes[key]
    if value is None:
        raise AclTextError(f"resource {name}: `{key}` is an expression; {_ADVICE}")
    return value


def resource(kind: str, name: str, attributes: Mapping[str, str]) -> str:
    """A resource block, its attributes aligned as `terraform fmt` does."""
    width = max(map(len, attributes))
    lines = [f"  {key:<{width}} = {_quoted(value)}\n" for key, value in attributes.items()]
    return f'resource "{kind}" "{name}" {{\n{"".join(lines)}}}\n'


def names(acls: Iterable[Acl]) -> Iterator[tuple[str, Acl]]:
    """A name for each ACL's resource: from what it says, and unique."""
    used: dict[str, int] = {}
    for acl in acls:
        parts = (
            acl.principal.partition(":")[2],
            "" if acl.permission.name == "ALLOW" else "deny",
            acl.operation.name,
            acl.resource_type.name,
            acl.resource_name,
        )
        base = "_".join(re.sub(r"\W+", "_", part, flags=re.ASCII).strip("_") for part in parts)
        base = "acl_" + re.sub(r"_+", "_", base).strip("_").lower()
        used[base] = used.get(base, 0) + 1
        yield (base if used[base] == 1 else f"{base}__{used[base]}"), acl


def _from_json(text: str, kind: str) -> Iterator[tuple[str, Mapping[str, Any], int]]:
    """Of `terraform show -json`, or of a state file: resources with values at any depth."""
    content = load_json(text)
    waiting = [content.get("values", content) if isinstance(content, dict) else content]
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, list):
            waiting = value + waiting
        elif isinstance(value, dict):
            if value.get("type") == kind:
                instances = value.get("instances") or [{"attributes": value.get("values")}]
                for instance in instances:
                    name = str(value.get("address") or value.get("name"))
                    line = line_of(instance) or line_of(value)
                    with at_line(line):
                        yield name, dict(instance.get("attributes") or {}), line
            else:
                waiting = list(value.values()) + waiting


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    at, line = 0, 1
    while at < len(text):
        found = _TOKEN.match(text, at)
        assert found is not None, "any character is a token"
        at = found.end()
        if found.lastgroup != "space" and not found["space"]:
            kind = "text" if found["text"] else "word" if found["word"] else "other"
            yield kind, found[0], line
        line += found[0].count("\n")


def _end_of_block(tokens: Tokens, opening: int) -> int:
    depth = 0
    for at in range(opening, len(tokens)):
        depth += {"{": 1, "}": -1}.get(tokens[at][1], 0)
        if depth == 0:
            return at
    raise AclTextError("a block is not closed: a `}` is missing")


def _attributes(tokens: Tokens, name: str, known: Iterable[str]) -> dict[str, Any]:
    """Attributes of the block itself, not those of blocks within."""
    found: dict[str, Any] = {}
    at = 0
    while at < len(tokens):
        if tokens[at][1] in "{[(":
            at = _end_of_group(tokens, at)
        elif _is_assigned(tokens, at):
            with at_line(tokens[at][2]):
                known_keys([tokens[at][1]], (*known, *_META), f"resource {name}")
            key, value = tokens[at][1], tokens[at + 2] if at + 2 < len(tokens) else ("", "", 0)
            if key in ("count", "for_each"):
                raise AclTextError(f"resource {name}: `{key}` is an expression; {_ADVICE}")
            ends = at + 3 >= len(tokens) or tokens[at + 3][0] == "word"
            found[key] = _unquoted(value[1]) if value[0] == "text" and ends else None
            at += 1
        at += 1
    return found


def _is_assigned(tokens: Tokens, at: int) -> bool:
    """Whether a word is an attribute's name, not a side of `==`."""
    signs = [sign for _, sign, _ in tokens[at + 1 : at + 3]]
    return tokens[at][0] == "word" and signs[:1] == ["="] and signs[1:] != ["="]


def _end_of_group(tokens: Tokens, opening: int) -> int:
    depth = 0
    for at in range(opening, len(tokens)):
        depth += {"{": 1, "[": 1, "(": 1, "}": -1, "]": -1, ")": -1}.get(tokens[at][1], 0)
        if depth == 0:
            return at
    return len(tokens)


def _unquoted(token: str) -> str | None:
    """What a quoted text says; None if there is an expression in it."""
    text = token[1:-1]
    if re.search(r"(?<![$%])[$%]\{", text):
        return None
    text = text.replace("$${", "${").replace("%%{", "%{")
    return re.sub(
        r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))",
        lambda m: chr(int(m[1] or m[2], 16)) if m[1] or m[2] else _ESCAPES.get(m[3], m[0]),
        text,
    )


def _quoted(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return quoted.replace("${", "$${").replace("%{", "%%{")
