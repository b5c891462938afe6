"""Parse Terraform's language into blocks of tokens, without evaluation."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.text.data_text import json_text

_TOKEN = re.compile(
    r"(?P<space>[\s,]+|(?:#|//)[^\n]*|/\*.*?\*/)"
    r'|(?P<text>"(?:[^"\\\n]|\\.)*")'
    r"|(?P<heredoc><<-?(?P<end>[\w-]+)\r?\n(?:.*?\n)??[ \t]*(?P=end)(?=\s|$))"
    r"|(?P<word>[^\W\d][\w.-]*)"
    r"|(?P<other>[^\s])",
    re.DOTALL,
)
_NOTHING = ("{}", "[]", "toset([])", "0", '"0"')
"""Values of `count` and `for_each` that make nothing."""
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
        at = match.end()
        if not match["space"]:
            kinds = ("text", "heredoc", "word")
            yield Token(next((k for k in kinds if match[k]), "other"), match[0], line)
        line += match[0].count("\n")


def closing_bracket_position(tokens: Sequence[Token], opening: int) -> int:
    """Return the position of the closing bracket, or the end."""
    depth = 0
    for at in range(opening, len(tokens)):
        if tokens[at].kind == "other":
            depth += {"{": 1, "[": 1, "(": 1, "}": -1, "]": -1, ")": -1}.get(tokens[at].text, 0)
        if depth == 0:
            return at
    return len(tokens)


def block_count_or_none(block: Block) -> int | None:
    """Return how often a block is made, by `count` or `for_each`; None if that is an expression."""
    tokens, at = block.body, 0
    while at < len(tokens):
        if tokens[at].text in ("{", "[", "("):
            at = closing_bracket_position(tokens, at)
        elif tokens[at].text in ("count", "for_each"):
            line = tokens[at].line
            value = "".join(token.text for token in tokens[at + 2 :] if token.line == line)
            if value in _NOTHING:
                return 0
            return int(value) if value.isdecimal() else None
        at += 1
    return 1


def unquote(token: str) -> str | None:
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
