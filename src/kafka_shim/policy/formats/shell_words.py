"""Split a shell script into its commands, without evaluation.

A word keeps a mark before each part that a shell would replace: a variable, a substitution, braces
with alternatives, or a template such as `{{ item }}`.
"""

import re
import shlex
from collections.abc import Iterator
from typing import Literal, NamedTuple

import msgspec

from kafka_shim.authorizer.acl_names import AclTextError

MARK = "\x00"
"""Precedes a part of a word that a shell would replace."""

_IGNORED = re.compile(r"(?:[ \t\r\f\v]|\\\r?\n)+|#[^\n]*")
_OPERATOR = re.compile(r"\n|;;&|;;|;&|;|&&|\|\||\|&|\||&|\(|\)")
_REDIRECTION = re.compile(r"(?:\d*|&)(<<<|<<-|<<|<>|<&|>&|>>|>\||<(?!\()|>(?!\())")
_PLAIN = re.compile(r"[^\s'\"\\$`;&|<>(){}%]+")
_SINGLE_QUOTED = re.compile(r"'([^']*)'")
_ANSI_C_QUOTED = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_ANSI_C_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL
)
_ANSI_C_CHARACTERS = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t",
    "v": "\v", "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip
_VARIABLE = re.compile(r"\$(?:\w+|[@*#?$!-])")
_TEMPLATE = re.compile(r"\{\{.*?\}\}|\{%.*?%\}")
_EXPANDED = re.compile(rf"{_TEMPLATE.pattern}|" r"\{[^\s{}'\"]*(?:,|\.\.)[^\s{}'\"]*\}|%\w+%")
"""Templates, braces with alternatives, and variables of a batch file."""
_ASSIGNMENT = re.compile(r"\w+(?:\[[^\]]*\])?\+?=.*", re.DOTALL)
_LOOPS = ("for", "select", "while", "until")
_CLOSING = {"done": _LOOPS, "fi": ("if",), "esac": ("case",), "}": ("{", "function")}
_TESTS = ("[", "[[", "test", "grep", "which", "type", "false")
_INCOMPLETE = "incomplete command: a quote is open, or the last line ends in a backslash"


class HereDocument(msgspec.Struct):
    """A here-document or here-string, and its first line."""

    text: str
    line: int


class ShellCommand(msgspec.Struct):
    """A simple command, without redirections and assignments before it.

    Assignments alone, and the words of a `for`, are words of `declare`; redirections and pipes of a
    compound command are of `<<`. `files` are what it reads as its input, `outputs` what it writes.

    `construct` is the innermost loop, condition or function that decides whether and how often the
    command runs, with its line; empty if none does. The next command reads its output if
    `is_piped`. It `is_conditional` after `||`, or after a test and `&&`.
    """

    line: int
    words: list[str]
    inputs: list[HereDocument]
    construct: str = ""
    is_piped: bool = False
    is_conditional: bool = False
    files: list[str] = msgspec.field(default_factory=list)
    outputs: list[str] = msgspec.field(default_factory=list)


class _AwaitedDocument(NamedTuple):
    """A here-document that begins on the next line, its last line, and whether that was quoted, so
    that a backslash stands for itself.
    """

    document: HereDocument
    end: str
    is_indented: bool
    is_literal: bool


class _Token(msgspec.Struct):
    kind: Literal["word", "operator", "input", "output", "script"]
    text: str
    line: int
    is_quoted: bool = False
    input: HereDocument | None = None


class _CompoundCommand(msgspec.Struct):
    """A compound command; `decides`: its present part may run never, or several times."""

    kind: str
    line: int
    decides: bool = False


def split_shell_commands(text: str, line: int = 1) -> Iterator[ShellCommand]:
    """Yield the commands in their order, also those in substitutions, which a shell runs, too.

    `line` is the text's first. Raise AclTextError, with the line, for an open quote.
    """
    return _CommandSplitter().split(text, line)


class _CommandSplitter:
    """The compound commands and the words at a place in a script."""

    def __init__(self) -> None:
        self._constructs: list[_CompoundCommand] = []
        self._words: list[str] = []
        self._inputs: list[HereDocument] = []
        self._files: list[str] = []
        self._outputs: list[str] = []
        self._line = 0
        self._is_header = self._is_conditional = self._is_negated = False
        self._function = ""

    def split(self, text: str, line: int) -> Iterator[ShellCommand]:
        waiting: list[ShellCommand] = []
        try:
            for token in _Tokenizer(text, line).tokens():
                waiting += self._process_token(token)
                if token.text == "\n":  # the here-documents of the line have their text now
                    yield from waiting
                    waiting = []
            waiting += self._finish_command("")
        except AclTextError:
            yield from waiting
            raise
        yield from waiting

    def _process_token(self, token: _Token) -> Iterator[ShellCommand]:
        if token.kind == "operator":
            yield from self._process_operator(token)
        elif token.kind == "script":
            for command in split_shell_commands(token.text, token.line):
                yield msgspec.structs.replace(
                    command, construct=command.construct or self._conditional_construct()
                )
        elif token.input is not None:
            self._line = self._line if self._words else token.line
            self._inputs.append(token.input)
        elif token.kind == "input":
            self._files.append(token.text)
        elif token.kind == "output":
            self._outputs.append(token.text)
        elif self._is_inside("array"):
            self._words[-1] += f" {token.text}"
        else:
            self._process_word(token)

    def _process_word(self, token: _Token) -> None:
        if not self._words:
            self._line = token.line
            if not token.is_quoted and not self._is_header and self._process_reserved_word(token):
                return
        if self._is_header and token.text == "in" and self._is_inside("case"):
            self._is_header = False
            self._words = []
        elif self._function == "?":
            self._function = token.text
        else:
            self._words.append(token.text)

    def _process_reserved_word(self, token: _Token) -> bool:
        """Process a word that a shell reserves in the place of a command; return whether it is."""
        word = token.text
        if word in (*_LOOPS, "if", "case"):
            self._constructs.append(_CompoundCommand(word, token.line, word == "case"))
            self._is_header = word in ("for", "select", "case")
        elif word in ("then", "else", "elif", "do"):
            if self._constructs:
                self._constructs[-1].decides = True
        elif word in _CLOSING:
            if self._constructs and self._constructs[-1].kind in _CLOSING[word]:
                self._constructs.pop()
        elif word == "{":
            kind = "function" if self._function else "{"
            decides = bool(self._function) or self._is_conditional
            self._constructs.append(_CompoundCommand(kind, token.line, decides))
            self._function = ""
        elif word == "function":
            self._function = "?"
        else:
            self._is_negated = self._is_negated or word == "!"
            return word in ("!", "time", "coproc")
        return True

    def _process_operator(self, token: _Token) -> Iterator[ShellCommand]:
        if self._is_inside("array"):
            if token.text == ")":
                self._constructs.pop()
        elif token.text == "(":
            yield from self._process_opening_bracket(token)
        elif token.text == ")" and self._is_inside("case"):
            self._words = []  # a pattern
        else:
            yield from self._finish_command(token.text)
            if token.text == ")" and self._is_inside("(", "function"):
                self._constructs.pop()

    def _process_opening_bracket(self, token: _Token) -> Iterator[ShellCommand]:
        if self._words and self._words[-1].endswith("="):
            self._constructs.append(_CompoundCommand("array", token.line))
        elif len(self._words) == 1:
            self._function, self._words = self._words[0], []
            self._constructs.append(_CompoundCommand("(", token.line))
        else:
            decides = bool(self._function) or self._is_conditional
            yield from self._finish_command(token.text)
            self._constructs.append(_CompoundCommand("(", token.line, decides))

    def _finish_command(self, operator: str) -> Iterator[ShellCommand]:
        words, inputs = self._words, self._inputs
        while words and _ASSIGNMENT.fullmatch(words[0]):
            words = words[1:]
        if not words and self._words:
            words = ["declare", *self._words]
        is_piped = operator in ("|", "|&")
        if not words and (inputs or self._outputs or is_piped):
            words = ["<<"]
        is_header = self._is_header
        if is_header and words[2:] and self._is_inside("for", "select"):
            words, is_header = ["declare", f"{words[0]}={' '.join(words[2:])}"], False
        if words and not is_header:
            yield ShellCommand(
                self._line,
                words,
                inputs,
                self._conditional_construct(),
                is_piped=is_piped,
                is_conditional=self._is_conditional,
                files=self._files,
                outputs=self._outputs,
            )
        self._words, self._inputs, self._files, self._outputs = [], [], [], []
        self._is_header = False
        is_test = self._is_conditional or self._is_negated or (words and words[0] in _TESTS)
        self._is_negated = False
        self._is_conditional = operator == "||" or (operator == "&&" and bool(is_test))

    def _is_inside(self, *kinds: str) -> bool:
        return bool(self._constructs) and self._constructs[-1].kind in kinds

    def _conditional_construct(self) -> str:
        deciding = [construct for construct in self._constructs if construct.decides]
        if not deciding:
            return ""
        kind = deciding[-1].kind
        name = "group of commands" if kind in ("{", "(") else f"`{kind}`"
        return f"{name} of line {deciding[-1].line}"


class _Tokenizer:
    """Reads the tokens of a script."""

    def __init__(self, text: str, line: int) -> None:
        self._text = text
        self._at = 0
        self._line = line
        self._scripts: list[_Token] = []
        self._awaited: list[_AwaitedDocument] = []

    def tokens(self) -> Iterator[_Token]:
        while self._at < len(self._text):
            if self._take(_IGNORED) is not None:
                continue
            line = self._line
            redirection = self._take(_REDIRECTION)
            operator = None if redirection is not None else self._take(_OPERATOR)
            if redirection is not None:
                yield from self._tokens_of_redirection(redirection[1], line)
            elif operator is not None:
                if operator[0] == "\n":
                    self._take_here_documents()
                yield _Token("operator", operator[0], line)
            else:
                word = self._take_word()
                yield from self._iter_substitutions()
                yield word

    def _tokens_of_redirection(self, sign: str, line: int) -> Iterator[_Token]:
        while self._take(_IGNORED) is not None:
            pass
        if self._at == len(self._text):
            raise AclTextError(_INCOMPLETE, line)
        start = self._at
        target = self._take_word()
        is_literal = re.search(r"['\"\\]", self._text[start : self._at]) is not None
        yield from self._iter_substitutions()
        if sign == "<":
            yield _Token("input", target.text, line)
        elif sign in (">", ">>", ">|", "&>"):
            yield _Token("output", target.text, line)
        elif sign == "<<<":
            document = HereDocument(target.text, line)
            yield _Token("input", "", line, input=document)
        elif sign in ("<<", "<<-"):
            document = HereDocument("", line)
            end = target.text.replace(MARK, "")
            self._awaited.append(_AwaitedDocument(document, end, sign == "<<-", is_literal))
            yield _Token("input", "", line, input=document)

    def _take_here_documents(self) -> None:
        for document, end, is_indented, is_literal in self._awaited:
            document.line = self._line
            lines: list[str] = []
            while self._at < len(self._text):
                start = self._at
                newline = self._text.find("\n", start)
                self._advance(len(self._text) if newline < 0 else newline + 1)
                line = self._text[start : self._at]
                stripped = line.rstrip("\r\n")
                if (stripped.lstrip("\t") if is_indented else stripped) == end:
                    break
                lines.append(line)
            text = "".join(lines)
            document.text = text if is_literal else re.sub(r"\\([$`\\])", r"\1", text)
        self._awaited = []

    def _iter_substitutions(self) -> Iterator[_Token]:
        scripts, self._scripts = self._scripts, []
        yield from scripts

    def _take_word(self) -> _Token:
        """Return a word, which has at least one character."""
        line, parts, is_quoted = self._line, list[str](), False
        if self._text[self._at] == "~":  # a home
            parts.append(MARK)
        while self._at < len(self._text):
            character = self._text[self._at]
            plain = self._take(_PLAIN)
            if plain is not None:
                parts.append(plain[0])
            elif character in " \t\r\f\v\n;&|)" or (character in "<>(" and parts):
                break
            elif character in "'\"":
                is_quoted = True
                parts.append(self._take_quoted(character))
            elif character == "\\":
                parts.append(self._take_escape())
            elif character in "$`" or self._text.startswith(("<(", ">("), self._at):
                parts.append(self._take_expansion())
            else:
                expanded = self._take(_EXPANDED)
                parts.append(character if expanded is None else MARK + expanded[0])
                self._advance(self._at + (expanded is None))
        return _Token("word", "".join(parts), line, is_quoted)

    def _take_quoted(self, quote: str) -> str:
        line = self._line
        if quote == "'":
            quoted = self._take(_SINGLE_QUOTED)
            if quoted is None:
                raise AclTextError(_INCOMPLETE, line)
            return _TEMPLATE.sub(lambda match: MARK + match[0], quoted[1])
        self._advance(self._at + 1)
        parts: list[str] = []
        while self._at < len(self._text):
            character = self._text[self._at]
            if character == '"':
                self._advance(self._at + 1)
                return "".join(parts)
            if character == "\\":
                parts.append(self._take_escape(kept='$`"\\'))
            elif character in "$`":
                parts.append(self._take_expansion(is_quoted=True))
            else:
                expanded = self._take(_EXPANDED) if character == "{" else None
                parts.append(character if expanded is None else _mark_template(expanded[0]))
                self._advance(self._at + (expanded is None))
        raise AclTextError(_INCOMPLETE, line)

    def _take_escape(self, kept: str = "") -> str:
        """Return what a backslash and the next character stand for."""
        line, following = self._line, self._text[self._at + 1 : self._at + 2]
        if following == "\r" and self._text[self._at + 2 : self._at + 3] == "\n":
            self._advance(self._at + 3)
            return ""
        if not following:
            raise AclTextError(_INCOMPLETE, line)
        self._advance(self._at + 2)
        if following == "\n":
            return ""
        return f"\\{following}" if kept and following not in kept else following

    def _take_expansion(self, *, is_quoted: bool = False) -> str:
        """Return an expansion with a mark; a `$` alone stands for itself."""
        start, line = self._at, self._line
        if self._text[start] == "`":
            end = self._text.find("`", start + 1)
            if end < 0:
                raise AclTextError(_INCOMPLETE, line)
            self._scripts.append(_Token("script", self._text[start + 1 : end], line))
            self._advance(end + 1)
        elif self._take(_VARIABLE) is not None:
            pass
        elif self._text[start + 1 : start + 2] in ("(", "{"):
            self._skip_brackets(start + 1)
            if self._text[start + 1] == "(" and self._text[start + 2 : start + 3] != "(":
                script = self._text[start + 2 : self._at - 1]
                self._scripts.append(_Token("script", script, line))
        elif is_quoted:
            self._advance(start + 1)
            return "$"
        elif (characters := self._take_ansi_c_quoted()) is not None:
            return characters
        elif (quote := self._text[start + 1 : start + 2]) and quote in "'\"":
            self._advance(start + 1)
            self._take_quoted(quote)
        else:
            self._advance(start + 1)
            return "$"
        return MARK + self._text[start : self._at]

    def _take_ansi_c_quoted(self) -> str | None:
        """Return the characters of `$'...'`; None if the meaning of an escape is not certain."""
        match = _ANSI_C_QUOTED.match(self._text, self._at)
        if match is None:
            return None
        try:
            characters = _ANSI_C_ESCAPE.sub(_ansi_c_character, match[1])
        except (KeyError, ValueError):
            return None
        self._advance(match.end())
        return characters

    def _skip_brackets(self, opening: int) -> None:
        """Go behind the bracket that closes the one here, over quoted ones."""
        line, depth = self._line, 0
        pairs = {"(": ")", "{": "}"}
        opened, closing = self._text[opening], pairs[self._text[opening]]
        self._advance(opening)
        scripts = len(self._scripts)
        while self._at < len(self._text):
            character = self._text[self._at]
            if character in "'\"":
                self._take_quoted(character)
                continue
            self._advance(self._at + (2 if character == "\\" else 1))
            depth += (character == opened) - (character == closing)
            if depth == 0:
                del self._scripts[scripts:]  # they are in the text between the brackets
                return
        raise AclTextError(_INCOMPLETE, line)

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        match = pattern.match(self._text, self._at)
        if match is not None:
            self._advance(match.end())
        return match

    def _advance(self, position: int) -> None:
        self._line += self._text.count("\n", self._at, position)
        self._at = position


def _ansi_c_character(escape: re.Match[str]) -> str:
    """Return the character of an escape. Raise KeyError for others, ValueError for half of one."""
    digits = escape[1] or escape[2] or escape[3]
    if digits is None:
        return _ANSI_C_CHARACTERS[escape[4]]
    code = int(digits, 16)
    if escape[1] is not None and code > 0x7F:
        raise ValueError("a byte that may be a part of a character")
    return chr(code)


def quoted_word(text: str) -> str:
    """Return a word of a shell with this text, without characters that control a terminal."""
    if text.isprintable():
        return shlex.quote(text)
    return f"$'{''.join(map(_escape_ansi_c, text))}'"


def _escape_ansi_c(character: str) -> str:
    if character in "\\'":
        return f"\\{character}"
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x80 else f"\\U{code:08x}"


def _mark_template(text: str) -> str:
    """Return a template with a mark; a shell keeps other braces in quotes."""
    return MARK + text if text.startswith(("{{", "{%")) else text
