"""Write the names that type checkers know: APIs, errors and operations.

`python -m kafka_shim.testing.generate_names` writes names.py, and the types of the packages for
Node and Java.
"""

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from kafka_shim.authorizer.acl_names import camel_case
from kafka_shim.protocol.api_key import ApiKey
from kafka_shim.protocol.enums import ApiKey as NamedApiKey, Operation, PatternType, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode

ROOT: Final = Path(__file__).parents[3]
PYTHON_FILE: Final = "src/kafka_shim/testing/names.py"
TYPESCRIPT_FILE: Final = "packages/npm/kafka-names.d.ts"
JAVA_FOLDER: Final = "packages/junit5/src/main/java/io/github/kafkashim"
NOT_IN_ACLS: Final = ("UNKNOWN", "ANY", "MATCH")
WIDTH: Final = 110
GENERATED: Final = "Generated from the protocol: do not edit."
PYTHON_HEAD: Final = f'''\
"""Names for type checkers. {GENERATED}"""

from typing import Literal, TypeAlias
'''
JAVA_HEAD: Final = f"package io.github.kafkashim;\n\n/** %s. {GENERATED} */\npublic enum %s {{\n"
JAVA_TEXT: Final = """;

    private final String text;

    {name}(String text) {{
        this.text = text;
    }}

    /** Returns the name as Kafka writes it. */
    @Override
    public String toString() {{
        return text;
    }}
"""


def names_sources() -> dict[str, str]:
    """Return the source of each generated file by its path in the repository."""
    api_names = {key.name: NamedApiKey(key).wire_name for key in ApiKey}
    error_names = {code.name: code.name for code in ErrorCode}
    operations = [each for each in Operation if each.name not in NOT_IN_ACLS]
    types = [each for each in ResourceType if each.name not in NOT_IN_ACLS]
    patterns = [each.name for each in PatternType if each.name not in NOT_IN_ACLS]
    python = [
        _python_alias("ApiName", api_names.values()),
        _python_alias("ErrorName", error_names),
        _python_alias("OperationName", _spellings(operations)),
        _python_alias("ResourceTypeName", _spellings(types)),
        _python_alias("PatternName", [*map(str.lower, patterns), *patterns]),
    ]
    typescript = [
        _typescript_union("ApiName", "The name of an API", api_names.values()),
        _typescript_union("ErrorName", "The name of an error code", error_names),
        _typescript_union("Operation", "The name of an operation", map(camel_case, operations)),
    ]
    return {
        PYTHON_FILE: PYTHON_HEAD + "".join(python),
        TYPESCRIPT_FILE: f"// {GENERATED}\n" + "".join(typescript),
        f"{JAVA_FOLDER}/ApiName.java": _java_enum("ApiName", "The APIs of Kafka", api_names),
        f"{JAVA_FOLDER}/ErrorName.java": _java_enum(
            "ErrorName", "The error codes of Kafka", error_names
        ),
    }


def _spellings(members: Iterable[Operation] | Iterable[ResourceType]) -> list[str]:
    """Return names as kafka-acls writes them, and in capitals."""
    return list(dict.fromkeys([name for m in members for name in (camel_case(m), m.name)]))


def _python_alias(name: str, words: Iterable[str]) -> str:
    lines = "".join(f'    "{word}",\n' for word in words)
    return f"\n{name}: TypeAlias = Literal[\n{lines}]\n"


def _typescript_union(name: str, text: str, words: Iterable[str]) -> str:
    lines = "\n".join(_wrapped((f'| "{word}"' for word in words), "  "))
    return f"\n/** {text}. */\nexport type {name} =\n{lines};\n"


def _java_enum(name: str, text: str, texts: Mapping[str, str]) -> str:
    """Return an enum, whose constants have a text if it differs from their name."""
    has_texts = any(constant != word for constant, word in texts.items())
    words = [f'{key}("{word}"),' if has_texts else f"{key}," for key, word in texts.items()]
    lines = "\n".join(_wrapped(words, "    ")).removesuffix(",")
    rest = JAVA_TEXT.format(name=name) if has_texts else "\n"
    return JAVA_HEAD % (text, name) + lines + rest + "}\n"


def _wrapped(words: Iterable[str], indent: str) -> Iterator[str]:
    """Yield lines of words, which may have spaces within."""
    text = " ".join(word.replace(" ", "\0") for word in words)
    for line in textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False):
        yield indent + line.replace("\0", " ")


if __name__ == "__main__":
    for path, source in names_sources().items():
        (ROOT / path).write_text(source, encoding="utf-8")
