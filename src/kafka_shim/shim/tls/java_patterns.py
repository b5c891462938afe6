"""Regular expressions of `java.util.regex`, translated for RE2 and for Python.

RE2 is used where it has everything that the expression needs, since its time grows only linearly.
DEVIATION: expressions that cannot be translated faithfully are rejected.
"""

import re
import string
from collections.abc import Callable
from typing import Any, NamedTuple

from kafka_shim.shim.re2_patterns import InvalidPatternError, compile_pattern

_LINE_ENDS = "\n\r\x85\u2028\u2029"
_LAST_LINE_END = f"(?=(?:\r\n|[{_LINE_ENDS}])?\\Z)"
_NAMED_GROUP = re.compile(r"\(\?<([A-Za-z][A-Za-z0-9]*)>")
_GROUP = re.compile(r"\(\?(?:[:=!>]|<[=!])")
_FLAGS = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]*))?([:)])")
_COUNT = re.compile(r"\{\d+(?:,\d*)?\}")
_CODE = re.compile(r"x([0-9a-fA-F]{2})|x\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})")
_PROPERTY = re.compile(r"[pP](?:\{(?:Is|general_category=|gc=)?(\w+)\}|([A-Z]))")
_BACK_REFERENCE = re.compile(r"k<([A-Za-z][A-Za-z0-9]*)>")
_CHARACTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}
_SPACE = " \t\n\x0b\f\r"
_CLASSES = {
    "d": "0-9",
    "w": "A-Za-z0-9_",
    "s": _SPACE,
    "h": " \t\xa0\u1680\u180e\u2000-\u200a\u202f\u205f\u3000",
    "v": f"\x0b\f{_LINE_ENDS}",
    "Lower": "a-z",
    "Upper": "A-Z",
    "ASCII": "\x00-\x7f",
    "Alpha": "A-Za-z",
    "Digit": "0-9",
    "Alnum": "A-Za-z0-9",
    "Punct": r"!-/:-@\[-`{-~",
    "Graph": "!-~",
    "Print": " -~",
    "Blank": " \t",
    "Cntrl": "\x00-\x1f\x7f",
    "XDigit": "0-9A-Fa-f",
    "Space": _SPACE,
}
_CATEGORIES = re.compile("L[ultmo]?|M[nc]?|N[dlo]?|P|S|Zs?|C")


class JavaPattern:
    """A compiled expression, with the semantics of Java's."""

    __slots__ = ("_pattern", "group_count", "group_numbers")

    def __init__(self, expression: str) -> None:
        """Raise ValueError if the expression is invalid, or has something that is not supported."""
        try:
            self._pattern: Any = _PatternTranslation(expression).compile()
        except re.error as error:
            raise ValueError(str(error)) from error
        except (OverflowError, RecursionError):
            raise ValueError("nested too deeply, or with too large a number") from None
        self.group_count: int = self._pattern.groups
        self.group_numbers: dict[str, int] = dict(self._pattern.groupindex)

    def matches(self, text: str) -> bool:
        """Return whether the expression matches the whole text."""
        return self._pattern.fullmatch(text) is not None

    def replace_all(self, text: str, replacement: Callable[[Any], str]) -> str:
        """Return the text with each match replaced; matches are searched, as in `replaceAll`."""
        pieces, end = [], 0
        for match in self._pattern.finditer(text):
            pieces += [text[end : match.start()], replacement(match)]
            end = match.end()
        return "".join([*pieces, text[end:]])


class _PatternElement(NamedTuple):
    """A character, or the content of a predefined class, such as `0-9` for digits."""

    text: str
    is_class: bool = False


class _PatternTranslation:
    """The parts of an expression for RE2 and for Python; None where one of them lacks it."""

    def __init__(self, expression: str) -> None:
        self._text, self._at = expression, 0
        self._parts: list[tuple[str | None, str | None]] = []
        self._flags = frozenset[str]()
        self._outer: list[frozenset[str]] = []
        while self._at < len(expression):
            self._translate_next_part()
        if self._outer:
            raise ValueError("missing `)`")

    def compile(self) -> Any:
        """Return RE2's pattern, otherwise Python's."""
        for_python = [python for _, python in self._parts]
        python = None if None in for_python else re.compile("".join(map(str, for_python)))
        for_re2 = [re2 for re2, _ in self._parts]
        if None not in for_re2:
            try:
                return compile_pattern("".join(map(str, for_re2)))
            except InvalidPatternError as error:
                if python is None:
                    raise ValueError(str(error)) from error
        if python is None:
            raise ValueError("Unicode categories together with references or look-around")
        return python

    def _translate_next_part(self) -> None:
        text, at = self._text, self._at
        character = text[at]
        self._at += 1
        if character == "\\":
            self._translate_escape_sequence()
        elif character == "[":
            self._add_part(self._translate_character_class())
        elif character == "(":
            self._translate_group_start()
        elif character == ")":
            if not self._outer:
                raise ValueError("unmatched `)`")
            self._flags = self._outer.pop()
            self._add_part(")")
        elif character == ".":
            self._add_part("(?s:.)" if "s" in self._flags else f"[^{_LINE_ENDS}]")
        elif character == "$":
            self._parts.append((r"\z", _LAST_LINE_END))
        elif character == "{":
            count = _COUNT.match(text, at)
            if count is None:
                raise ValueError("`{` without a number of repetitions")
            self._add_part(count[0])
            self._at = count.end()
        else:
            self._add_part(
                character if character in "^|*+?" else self._literal_with_case_flag(character)
            )

    def _translate_group_start(self) -> None:
        text, begin = self._text, self._at - 1
        name, group = _NAMED_GROUP.match(text, begin), _GROUP.match(text, begin)
        flags = _FLAGS.match(text, begin)
        outer = self._flags
        if name is not None:
            self._add_part(f"(?P<{name[1]}>")
            self._at = name.end()
        elif group is not None:
            self._parts.append((group[0] if group[0] == "(?:" else None, group[0]))
            self._at = group.end()
        elif flags is not None:
            if set(flags[1] + (flags[2] or "")) - set("is"):
                raise ValueError(f"`{flags[0]}`: only the flags i and s are supported")
            self._flags = (self._flags | set(flags[1])) - set(flags[2] or "")
            self._at = flags.end()
            if flags[3] == ")":
                return
            self._add_part("(?:")
        elif text.startswith("(?", begin):
            raise ValueError(f"`{text[begin : begin + 4]}` is not supported")
        else:
            self._add_part("(")
        self._outer.append(outer)

    def _translate_escape_sequence(self) -> None:
        text, at = self._text, self._at
        character = text[at : at + 1]
        reference = _BACK_REFERENCE.match(text, at)
        if character == "Q":
            end = text.find("\\E", at)
            end = len(text) if end < 0 else end
            for quoted in text[at + 1 : end]:
                self._add_part(self._literal_with_case_flag(quoted))
            self._at = end + 2
        elif character and character in "bB":
            self._parts.append((None, f"\\{character}"))
            self._at += 1
        elif character and character in "AzZ":
            self._parts.append(
                {"A": (r"\A", r"\A"), "z": (r"\z", r"\Z"), "Z": (r"\z", _LAST_LINE_END)}[character]
            )
            self._at += 1
        elif character and character in "123456789":
            self._parts.append((None, f"(?:\\{character})"))
            self._at += 1
        elif reference is not None:
            self._parts.append((None, f"(?P={reference[1]})"))
            self._at = reference.end()
        else:
            item = self._escaped_element()
            self._add_part(
                f"[{item.text}]" if item.is_class else self._literal_with_case_flag(item.text)
            )

    def _escaped_element(self) -> _PatternElement:
        """Return the character after a backslash, or the class that it stands for."""
        text, at = self._text, self._at
        character = text[at : at + 1]
        code, category = _CODE.match(text, at), _PROPERTY.match(text, at)
        if code is not None:
            self._at = code.end()
            return _PatternElement(chr(int(code[1] or code[2] or code[3], 16)))
        if category is not None:
            self._at = category.end()
            name = category[1] or category[2]
            if name in _CLASSES and len(name) > 1:
                content = _complement_of_class(name) if character == "P" else _CLASSES[name]
                return _PatternElement(content, is_class=True)
            if _CATEGORIES.fullmatch(name) is None:
                raise ValueError(f"the property `\\{category[0]}` is not supported")
            return _PatternElement(f"\\{character}{{{name}}}", is_class=True)
        self._at += 1
        if character.lower() in "dwshv" and character:
            is_complement = character.isupper()
            content = (
                _complement_of_class(character.lower()) if is_complement else _CLASSES[character]
            )
            return _PatternElement(content, is_class=True)
        if character in _CHARACTERS:
            return _PatternElement(_CHARACTERS[character])
        if not character or (character.isascii() and character.isalnum()):
            raise ValueError(f"the escape `\\{character}` is invalid or not supported")
        return _PatternElement(character)

    def _translate_character_class(self) -> str:
        text = self._text
        is_negated = text.startswith("^", self._at)
        self._at += is_negated
        items: list[str] = []
        while self._at < len(text):
            character = text[self._at]
            if character == "]" and items:
                self._at += 1
                return f"[{'^' * is_negated}{''.join(items)}]"
            if character == "[" or text.startswith("&&", self._at):
                raise ValueError("unions and intersections of classes are not supported")
            items.append(self._character_class_item())
        raise ValueError("missing `]`")

    def _character_class_item(self) -> str:
        item = self._next_element()
        if item.is_class:
            return item.text
        first = last = item.text
        if self._text.startswith("-", self._at) and self._text[self._at + 1 : self._at + 2] != "]":
            self._at += 1
            item = self._next_element()
            last = item.text
            if item.is_class or last < first:
                raise ValueError("an invalid range of characters")
        ranges = [(first, last)]
        if "i" in self._flags:
            for low, high in (("a", "z"), ("A", "Z")):
                begin, end = max(first, low), min(last, high)
                if begin <= end:
                    ranges.append((begin.swapcase(), end.swapcase()))
        return "".join(
            f"{_escape_punctuation(begin)}-{_escape_punctuation(end)}" for begin, end in ranges
        )

    def _next_element(self) -> _PatternElement:
        character = self._text[self._at : self._at + 1]
        self._at += 1
        if character == "\\":
            return self._escaped_element()
        return _PatternElement(character)

    def _literal_with_case_flag(self, character: str) -> str:
        if "i" in self._flags and character.isascii() and character.isalpha():
            return f"[{character}{character.swapcase()}]"
        return _escape_punctuation(character)

    def _add_part(self, part: str) -> None:
        """Add a part; Unicode categories are understood by RE2 only."""
        self._parts.append((part, None if r"\p{" in part.lower() else part))


def _escape_punctuation(character: str) -> str:
    return f"\\{character}" if character in string.punctuation else character


def _complement_of_class(name: str) -> str:
    """Return the content of a class with all characters that another one lacks."""
    missing, begin = [], 0
    pattern = re.compile(f"[{_CLASSES[name]}]")
    for code in range(0x3002):
        if pattern.match(chr(code)):
            if begin < code:
                missing.append((begin, code - 1))
            begin = code + 1
    missing.append((begin, 0x10FFFF))
    return "".join(
        f"{_escape_punctuation(chr(first))}-{_escape_punctuation(chr(last))}"
        for first, last in missing
    )
