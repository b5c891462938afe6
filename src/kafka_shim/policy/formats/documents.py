"""Read and write YAML and JSON documents, with line numbers, for several formats."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final, cast

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.policy.formats.fields import add_line_to_errors

_MARK = re.compile(r'"(?:[^"\\]|\\.)*"(\s*:)?|[{}\n]', re.DOTALL)


class MappingWithLines(dict[Any, Any]):
    """A mapping with the line where it begins, and the lines of its values by key."""

    __slots__ = ("line", "lines")

    line: int
    lines: dict[Any, int]


class ListWithLines(list[Any]):
    """A list with the lines of its items."""

    __slots__ = ("lines",)

    lines: list[int]


def line_of_mapping(value: object) -> int:
    """Return the line of a mapping that was loaded with lines, else 0."""
    return value.line if isinstance(value, MappingWithLines) else 0


def line_of_key(parent: object, key: str) -> int:
    """Return the line of the value under a key; 0 if unknown."""
    return parent.lines.get(key, parent.line) if isinstance(parent, MappingWithLines) else 0


def lines_of_items(parent: object, key: str, count: int) -> list[int]:
    """Return the lines of `count` items under a key: of a list, or of a single value."""
    value = parent.get(key) if isinstance(parent, MappingWithLines) else None
    return value.lines if isinstance(value, ListWithLines) else [line_of_key(parent, key)] * count


def load_json_with_lines(text: str) -> Any:
    """Return a JSON value with its objects as MappingWithLines. Raise AclTextError if invalid."""
    lines = _lines_by_object(text)

    def add_lines(pairs: list[tuple[str, Any]]) -> MappingWithLines:
        found = MappingWithLines(pairs)
        found.line, keys = next(lines)
        found.lines = {key: line for (key, _), line in zip(pairs, keys, strict=True)}
        if len(found) != len(pairs):
            twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
            raise AclTextError(f"not JSON: duplicate key `{twice}`", found.lines[twice])
        return found

    try:
        return json.loads(text, object_pairs_hook=add_lines)
    except AclTextError:
        raise
    except json.JSONDecodeError as error:
        raise AclTextError(f"not JSON: {error.msg}", error.lineno) from error
    except (RecursionError, ValueError) as error:  # too deep, or a number of too many digits
        raise AclTextError(f"unsupported JSON: {error}") from error


def _lines_by_object(text: str) -> Iterator[tuple[int, list[int]]]:
    """Yield the lines of each object and of its keys, in the order in which objects end."""
    line, open_objects = 1, list[tuple[int, list[int]]]()
    for mark in _MARK.finditer(text):
        if mark[0] == "\n":
            line += 1
        elif mark[0] == "{":
            open_objects.append((line, []))
        elif mark[0] == "}":
            yield open_objects.pop()
        elif mark[1] is not None:
            open_objects[-1][1].append(line)
            line += mark[1].count("\n")


DEPTH_MAX: Final = 100
PARTS_MAX: Final = 1_000_000
INT_LENGTH_MAX: Final = 100
RESOURCE_KEYS = ("apiVersion", "kind", "metadata", "spec", "status")
_BRACKET = re.compile(r"[\[\]{}]")
_JSON = re.compile(r'\s*(?:\[\s*)?\{\s*"')
_TEMPLATE = re.compile(r"\{\{|\{%")
"""What Helm and Jinja replace."""
_INDENT = re.compile(r"^(?:[?:-] | )+", re.MULTILINE)


def load_document(text: str, *, with_lines: bool = False) -> Any:
    """Return the document of a YAML or JSON text with one document. Raise AclTextError otherwise.

    `with_lines`: mappings are `MappingWithLines`, lists `ListWithLines`.
    """
    documents = load_documents(text, with_lines=with_lines)
    if len(documents) > 1:
        line = line_of_mapping(documents[1])
        raise AclTextError("expected one YAML document, found several", line)
    return documents[0] if documents else None


def load_documents(text: str, *, with_lines: bool = False) -> list[Any]:
    """Return all documents of a YAML or JSON text. Raise AclTextError, with the line, if it is
    neither.
    """
    import yaml  # noqa: PLC0415 - most commands need no YAML, and it takes a while to import

    depth, position = _max_nesting_depth(text)
    if depth > DEPTH_MAX:  # the C parser would crash the process
        line = text.count("\n", 0, position) + 1
        raise AclTextError(f"unsupported YAML: nested more than {DEPTH_MAX} deep", line)
    try:
        loader = (_line_recording_loader_class() if with_lines else _strict_loader_class())(text)
        return list(_construct_documents(loader, has_aliases="&" in text and "*" in text))
    except yaml.YAMLError as error:
        if _JSON.match(text):
            load_json_with_lines(text)  # raises an error with a better text
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark is not None else 0
        problem = _redact_yaml_problem(
            getattr(error, "problem", None) or " ".join(str(error).split())
        )
        near = "\n".join(text.splitlines()[max(line - 2, 0) : line])
        if (template := _TEMPLATE.search(near)) is not None:
            problem = f"`{template[0]}` begins a template: give the text that it makes"
        raise AclTextError(f"not YAML: {_redact_yaml_problem(problem)}", line) from error
    except AclTextError:
        raise
    except (ValueError, TypeError, RecursionError) as error:  # too deep nesting
        raise AclTextError(f"not YAML: {error}") from error


def _redact_yaml_problem(problem: str) -> str:
    """Return the parser's problem without the value, which may be a password."""
    if problem.startswith("found undefined alias"):
        return "undefined alias; a value that begins with `*` needs quotes"
    if problem.startswith("could not determine a constructor for the tag"):
        return "unsupported tag; a value that begins with `!` needs quotes"
    return problem


def _construct_documents(loader: Any, *, has_aliases: bool) -> Iterator[Any]:
    """Yield each document. Raise AclTextError for one that expands to far more than its text."""
    try:
        while loader.check_node():
            node = loader.get_node()
            if has_aliases and _expanded_value_count(node, {}) > PARTS_MAX:
                raise AclTextError(
                    f"unsupported YAML: its aliases expand to more than {PARTS_MAX} values",
                    _line_of_largest_part(node),
                )
            yield loader.construct_document(node)
    finally:
        loader.dispose()


def _expanded_value_count(node: Any, counts_by_node_id: dict[int, int]) -> int:
    """Return the number of values in a node after its aliases are expanded."""
    if isinstance(node.value, str):
        return 1
    if id(node) not in counts_by_node_id:
        counts_by_node_id[id(node)] = PARTS_MAX + 1  # a node may contain an alias of itself
        inner_nodes = [
            part for item in node.value for part in (item if isinstance(item, tuple) else (item,))
        ]
        counts_by_node_id[id(node)] = 1 + sum(
            _expanded_value_count(part, counts_by_node_id) for part in inner_nodes
        )
    return counts_by_node_id[id(node)]


def _line_of_largest_part(node: Any) -> int:
    """Return the line of the value in a mapping or list that has the most values by aliases."""
    parts = [item[1] if isinstance(item, tuple) else item for item in node.value]
    counts: dict[int, int] = {}
    largest = max(parts, key=lambda part: _expanded_value_count(part, counts), default=node)
    return int(largest.start_mark.line) + 1


def _max_nesting_depth(text: str) -> tuple[int, int]:
    """Return an upper bound of the nesting of brackets, and of blocks by indents and marks, with
    the position that is nested so deep.
    """
    depth = deepest = position = 0
    for bracket in _BRACKET.finditer(text):
        depth = depth + 1 if bracket[0] in "[{" else max(depth - 1, 0)
        if depth > deepest:
            deepest, position = depth, bracket.start()
    for indent in _INDENT.finditer(text):
        depth = len(indent[0]) // 2
        if depth > deepest:
            deepest, position = depth, indent.start()
    return deepest, position


@cache
def _loader_class_with_fast_strings() -> Any:
    """Return PyYAML's safe loader, which here returns strings immediately."""
    import yaml  # noqa: PLC0415 - as above

    class _StringLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        def construct_object(self, node: Any, deep: bool = False) -> Any:
            if node.tag == "tag:yaml.org,2002:str" and isinstance(node, yaml.ScalarNode):
                return node.value
            return super().construct_object(node, deep)

    return _StringLoader


@cache
def _strict_loader_class() -> Any:
    """Return PyYAML's safe loader, which here reports duplicate keys (PyYAML drops the first)."""
    import yaml  # noqa: PLC0415 - as above

    class _Loader(_loader_class_with_fast_strings()):  # type: ignore[misc]
        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            seen = set()
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                    if (key.tag, key.value) in seen:
                        raise yaml.constructor.ConstructorError(
                            None, None, f"duplicate key `{key.value}`", key.start_mark
                        )
                    seen.add((key.tag, key.value))
            return super().construct_mapping(node, deep)

        def construct_limited_int(self, node: Any) -> int:
            if len(node.value) > INT_LENGTH_MAX:  # `1:1:1:...`, base 60, would be endless
                raise yaml.constructor.ConstructorError(
                    None, None, f"a number of {len(node.value)} characters", node.start_mark
                )
            return int(self.construct_yaml_int(node))

        def construct_date(self, node: Any) -> Any:
            try:
                return self.construct_yaml_timestamp(node)
            except ValueError as error:
                raise yaml.constructor.ConstructorError(
                    None, None, str(error), node.start_mark
                ) from error

    _Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_limited_int)
    _Loader.add_constructor("tag:yaml.org,2002:timestamp", _Loader.construct_date)
    return _Loader


@cache
def _line_recording_loader_class() -> Any:
    class _LinedLoader(_strict_loader_class()):  # type: ignore[misc]
        def construct_lined(self, node: Any) -> Iterator[MappingWithLines]:
            found = MappingWithLines()
            found.line = node.start_mark.line + 1
            found.lines = {}
            yield found
            found.update(self.construct_mapping(node))
            found.lines |= {
                key.value: value.start_mark.line + 1
                for key, value in node.value
                if isinstance(key.value, str)
            }

        def construct_lined_list(self, node: Any) -> Iterator[ListWithLines]:
            found = ListWithLines()
            found.lines = [item.start_mark.line + 1 for item in node.value]
            yield found
            found.extend(self.construct_sequence(node))

    _LinedLoader.add_constructor("tag:yaml.org,2002:map", _LinedLoader.construct_lined)
    _LinedLoader.add_constructor("tag:yaml.org,2002:seq", _LinedLoader.construct_lined_list)
    return _LinedLoader


def dump_yaml_documents(documents: Iterable[Mapping[str, Any]]) -> str:
    """Return documents as YAML, with keys in their order."""
    import yaml  # noqa: PLC0415 - as above

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return str(
        yaml.dump_all(
            documents, Dumper=dumper, sort_keys=False, allow_unicode=True, explicit_start=True
        )
    )


def kubernetes_resources(text: str) -> list[Mapping[str, Any]]:
    """Return the Kubernetes-like resources of a text, also those in lists, with their lines.

    Resources of all kinds are returned, also those that are not of the format.
    """
    resources_with_lines: list[Mapping[str, Any]] = []
    for number, document in enumerate(load_documents(text, with_lines=True), start=1):
        if document is None:
            continue
        where = f"document {number}"
        if not isinstance(document, Mapping):
            raise AclTextError(f"{where}: expected a resource with `kind`, not `{document}`")
        if "items" in document:
            with add_line_to_errors(line_of_mapping(document)):
                items = list_under_key(document, "items", where)
                resources_with_lines += [require_mapping(item, f"{where}: item") for item in items]
        else:
            resources_with_lines.append(document)
    return resources_with_lines


def require_mapping(value: Any, where: str) -> Mapping[str, Any]:
    """Return the value if it is a mapping. Raise AclTextError, with the place, otherwise."""
    if not isinstance(value, Mapping):
        raise AclTextError(f"{where}: expected a mapping, not `{value}`")
    return cast("Mapping[str, Any]", value)


def mapping_under_key(parent: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
    """Return the mapping under a key; empty if the key is missing."""
    value = parent.get(key)
    return {} if value is None else require_mapping(value, f"{where}: `{key}`")


def list_under_key(parent: Mapping[str, Any], key: str, where: str) -> list[Any]:
    """Return the list under a key; empty if the key is missing."""
    value = parent.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise AclTextError(f"{where}: `{key}` must be a list, not `{value}`")
    return value


def list_under_key_rejecting_null(parent: Mapping[str, Any], key: str, where: str) -> list[Any]:
    """Return the list under a key. Raise AclTextError if the key has no value, which may be an
    accident.
    """
    if key in parent and parent[key] is None:
        raise AclTextError(f"{where}: {empty_key_message(key)}", line_of_key(parent, key))
    return list_under_key(parent, key, where)


def empty_key_message(key: str) -> str:
    return f"there is nothing below `{key}`; write `{key}: []` if there are none"


def text_under_key(
    parent: Mapping[str, Any], key: str, where: str, default: str | None = None
) -> str:
    """Return the text under a key. Raise AclTextError if it is missing and there is no default."""
    value = parent.get(key, default)
    if not isinstance(value, str):
        raise AclTextError(f"{where}: `{key}` must be a string, not `{value}`")
    return value


def check_keys_are_known(
    parent: Iterable[Any], known: Iterable[str], where: str = "", ignored: Sequence[Any] = ()
) -> None:
    """Raise AclTextError for unknown keys, with their lines if known."""
    names = list(known)
    errors = [
        AclTextError(
            f"{where}: {unknown_word_message('key', key, names)}"
            if where
            else unknown_word_message("key", key, names),
            line_of_key(parent, key),
        )
        for key in sorted(str(key) for key in parent if key not in (*names, *ignored))
    ]
    if errors:
        raise AclTextError(errors[0].message, errors[0].line, errors[1:])


def unknown_word_message(kind: str, word: str, known: Sequence[str]) -> str:
    """Return an error text for an unknown word, with the word that was probably meant."""
    from difflib import get_close_matches  # noqa: PLC0415 - only for what is wrong

    close = get_close_matches(word, known, n=1, cutoff=0.6)
    meant = f"did you mean `{close[0]}`? Known" if close else "known"
    return f"unknown {kind} `{word}`; {meant} are {', '.join(known)}"
