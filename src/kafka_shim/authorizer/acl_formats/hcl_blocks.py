"""Parse Terraform's language into blocks of tokens, without evaluation."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from kafka_shim.authorizer.acl_names import AclTextError

_TOKEN = re.compile(
    r"(?P<space>[\s,]+|(?:#|//)[^\n]*|/\*.*?\*/)"
    r'|(?P<text>"(?:[^"\\\n]|\\.)*")'
    r"|(?P<heredoc><<-?(?P<end>\w+)\n.*?\n[ \t]*(?P=end)\b)"
    r"|(?P<word>[^\W\d][\w.-]*)"
    r"|(?P<other>[^\s])",
    re.DOTALL,
)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}


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


def blocks(text: str) -> Iterator[Block]:
    """Yield the outermost blocks; AclTextError, with the line, for anything else."""
    found = list(tokens(text))
    at = 0
    while at < len(found):
        first, opening = found[at], at
        while opening < len(found) and found[opening].kind in ("word", "text"):
            opening += 1
        if first.kind != "word" or opening == len(found) or found[opening].text != "{":
            said = f"not Terraform: expected a block such as resource, not `{first.text}`"
            raise AclTextError(said, first.line)
        end = _end_of_block(found, opening)
        labels = tuple(unquoted(token.text) or "?" for token in found[at + 1 : opening])
        yield Block(first.text, labels, found[opening + 1 : end], first.line)
        at = end + 1


def tokens(text: str) -> Iterator[Token]:
    at, line = 0, 1
    while at < len(text):
        found = _TOKEN.match(text, at)
        assert found is not None, "any character is a token"
        at = found.end()
        if not found["space"]:
            kinds = ("text", "heredoc", "word")
            yield Token(next((k for k in kinds if found[k]), "other"), found[0], line)
        line += found[0].count("\n")


def end_of_group(found: Sequence[Token], opening: int) -> int:
    """Return the position of the closing bracket, or the end."""
    depth = 0
    for at in range(opening, len(found)):
        if found[at].kind == "other":
            depth += {"{": 1, "[": 1, "(": 1, "}": -1, "]": -1, ")": -1}.get(found[at].text, 0)
        if depth == 0:
            return at
    return len(found)


def unquoted(token: str) -> str | None:
    """Return the value of a quoted text or a word; None if it contains an expression."""
    if not token.startswith('"'):
        return token
    text = token[1:-1]
    if re.search(r"(?<![$%])[$%]\{", text):
        return None
    text = text.replace("$${", "${").replace("%%{", "%{")
    return re.sub(
        r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))",
        lambda m: chr(int(m[1] or m[2], 16)) if m[1] or m[2] else _ESCAPES.get(m[3], m[0]),
        text,
    )


def quoted(text: str) -> str:
    found = json.dumps(text, ensure_ascii=False)
    return found.replace("${", "$${").replace("%{", "%%{")


def _end_of_block(found: Sequence[Token], opening: int) -> int:
    depth = 0
    for at in range(opening, len(found)):
        if found[at].kind == "other":
            depth += {"{": 1, "}": -1}.get(found[at].text, 0)
        if depth == 0:
            return at
    raise AclTextError("a block is not closed: a `}` is missing", found[opening].line)
