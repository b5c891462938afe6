"""Reads JAAS lines and files of Kafka's configuration: login modules with a flag and options."""

import re

import msgspec

from kafka_shim.shim.errors import ConfigError

_WORD = r"""\s*(?:"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|([=;{}])|([^\s=;{}"']+))"""
_COMMENT = r"""(?s)("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/"""
_REJECTED_IN_FILES = {"#": "comments begin with `//`", "'": "values have double quotes"}
"""Signs outside of strings with which Java rejects a file, unlike a setting, and the reason."""
_BARE = re.compile(r"[A-Za-z_$\xa0-\U0010ffff][0-9A-Za-z_.$\xa0-\U0010ffff-]*")
"""A word for Java's StreamTokenizer."""
_ESCAPE = re.compile(r"\\([0-3]?[0-7]{1,2}|.)", re.DOTALL)
_ESCAPED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_FLAGS = frozenset({"required", "requisite", "sufficient", "optional"})
_USER = "user_"

PLAIN_MODULE = "org.apache.kafka.common.security.plain.PlainLoginModule"
OTHER_USERS = "shim.sasl.jaas.config"
"""The setting with the users of a section KafkaServer: of listeners without users of their own."""


class JaasModule(msgspec.Struct, frozen=True):
    """A login module with its options, without quotes."""

    name: str
    options: dict[str, str]

    @property
    def plain_passwords_by_user(self) -> dict[str, str]:
        """Return the users of a PLAIN server: `user_alice="secret"` is the password of alice."""
        return {
            key.removeprefix(_USER): value
            for key, value in self.options.items()
            if key.startswith(_USER)
        }

    def as_setting(self) -> str:
        """Return the value of `sasl.jaas.config` that parse_jaas reads as this module."""
        quoted = {key: re.sub(r'(["\\])', r"\\\1", value) for key, value in self.options.items()}
        options = "".join(f' {key}="{value}"' for key, value in quoted.items())
        return f"{self.name} required{options};"


def parse_jaas(text: str, where: str) -> JaasModule:
    """Parse `package.Module required key="value" ...;`.

    Raise ConfigError, beginning with `where`, if the text is invalid.
    """
    return _module_of_tokens(_split_tokens(text, where), where)


def parse_jaas_file(text: str, where: str) -> dict[str, list[JaasModule]]:
    """Return the login modules of each section `NAME { module ...; module ...; };` of a file.

    Raise ConfigError, beginning with `where`, if the text is invalid.
    """
    unquoted = re.sub(_COMMENT, " ", text)
    for sign, reason in _REJECTED_IN_FILES.items():
        if sign in unquoted:
            raise ConfigError(f"{where}: Java rejects `{sign}` in a JAAS file: {reason}")
    tokens = _split_tokens(re.sub(_COMMENT, lambda match: match[1] or " ", text), where)
    sections: dict[str, list[JaasModule]] = {}
    while tokens:
        if len(tokens) < 4 or tokens[1] != "{" or "}" not in tokens:
            raise ConfigError(f"{where}: expected `NAME {{ package.LoginModule required ...; }};`")
        end = tokens.index("}")
        name, body = tokens[0], tokens[2:end]
        if name in sections:
            raise ConfigError(f"{where}: section {name} is there twice")
        if tokens[end + 1 : end + 2] != [";"]:
            raise ConfigError(f"{where}: section {name} must end with `}};`")
        sections[name] = []
        while body:
            count = body.index(";") + 1 if ";" in body else len(body)
            module = _module_of_tokens(body[:count], f"{where}: section {name}")
            for key, value in module.options.items():
                if "${" in value:
                    said = "Java replaces `${...}` by a system property; write the value"
                    raise ConfigError(f"{where}: section {name}: {key}: {said}")
            sections[name].append(module)
            body = body[count:]
        tokens = tokens[end + 2 :]
    return sections


def _module_of_tokens(tokens: list[str], where: str) -> JaasModule:
    if len(tokens) < 3 or tokens[1].lower() not in _FLAGS or tokens[-1] != ";":
        raise ConfigError(
            f'{where}: expected `package.LoginModule required key="value" ...;`, with the `;`'
        )
    options = {}
    words = tokens[2:-1]
    if len(words) % 3:
        raise ConfigError(f"{where}: an option is not of the form key=value")
    for key, equals, value in zip(words[::3], words[1::3], words[2::3], strict=True):
        if equals != "=":
            raise ConfigError(f"{where}: an option is not of the form key=value")
        options[key] = value
    return JaasModule(tokens[0], options)


def _split_tokens(text: str, where: str) -> list[str]:
    tokens = []
    at, text = 0, text.rstrip()
    while at < len(text):
        match = re.compile(_WORD).match(text, at)
        if match is None:
            raise ConfigError(f"{where}: a quote is not closed")
        at = match.end()
        double, single, sign, bare = match.groups()
        if bare is not None and not _BARE.fullmatch(bare):
            raise ConfigError(
                f"{where}: without quotes, a value has only letters, digits and `_$-.`, and begins"
                " with a letter, `_` or `$`; Kafka reads others as numbers or comments"
            )
        quoted = double if double is not None else single
        tokens.append(sign or bare if quoted is None else _ESCAPE.sub(_unescape, quoted))
    return tokens


def _unescape(match: re.Match[str]) -> str:
    """Return the character of an escape, as Java's StreamTokenizer."""
    code = match[1]
    return chr(int(code, 8)) if code[0] in "01234567" else _ESCAPED.get(code, code)
