"""Find the kafka-acls commands in a shell script, or in the strings of a YAML file.

They may be behind other tools (`docker exec`, `kubectl exec`, `sudo`), in a string that a shell
runs (`bash -c`), or in a here-document. What is about ACLs, and cannot be read, is an error.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.policy.formats.compose_file import reduce_compose_files
from kafka_shim.policy.formats.documents import (
    line_of_key,
    load_documents,
)
from kafka_shim.policy.formats.shell_words import (
    MARK,
    ShellCommand,
    split_shell_commands,
)
from kafka_shim.policy.formats.signs_of_acls import mentions_acls

_TOOL = re.compile(r"(?:.*[/\\}])?kafka-acls(?:\.sh|\.bat)?", re.DOTALL)
_MENTION = re.compile(r"kafka-acls|\bAclCommand\b|--(?:allow|deny)-principal\b")
_GRANT = re.compile(r"--(?:allow|deny)-principal\b")
_ABOUT_ACLS = re.compile(r"(?<![A-Za-z])acls?(?![A-Za-z])|[a-z]Acls?(?![a-z])")
_SHELL = re.compile(r"(?:.*/)?(?:ba|z|da|a|k)?sh")
_RUNS_STRING = re.compile(r"-[a-z]*c|--command")
_PRINTING = frozenset(
    (
        *("echo", "printf", "cat", "tee", "grep", "ls", "which", "type", "test", "[", "[[", ":"),
        *("cp", "mv", "rm", "ln", "chmod", "true", "rem", "REM", "@echo", "LABEL", "unset"),
    )
)
"""Commands that run none of their words."""
_DECLARING = frozenset(("alias", "export", "readonly", "local", "declare", "typeset"))
_READING = frozenset(("read", "mapfile", "readarray", "xargs", "parallel"))
_WRITING = frozenset(("echo", "printf"))
_SUBSTITUTED = re.compile(rf"{MARK}(?:\$\(|`).*kafka-acls", re.DOTALL)
_NESTED = re.compile(rf"{MARK}\$\{{[^}}]*(?:\$\(|`)[^}}]*kafka-acls")
_USED_NAME = re.compile(r"\$\{?(\w+)")
_ENDING = frozenset(("exit", "exec", "return"))
_SUBSTITUTION = re.compile(
    rf"{MARK}(?:\$\((?!\s*(?:echo|printf|cat)\b)(?:[^()]|\([^()]*\))*\)|`[^`]*`)"
)
_RUNNING_FILES = frozenset(
    (
        *("source", ".", "sudo", "docker", "docker-compose", "podman", "kubectl", "oc", "helm"),
        *("python", "python3", "ansible-playbook", "terraform"),
    )
)
_EVALUATING = frozenset(("eval", "ssh", "su"))
_JOINING = ("eval", "ssh")
_ACL_WORDS = frozenset(("acl", "acls", "access-control-list"))
_LISTING = frozenset(("list", "ls", "get"))
_ACL_TOOLS = r"(?:.*/)?(?:jikkou|kafka-gitops|julie-ops(?:-cli)?)(?:\.sh)?"
_ACL_PATH = re.compile(r"/kafka-acl\b|/v3/clusters/.*/acls")
"""A node of ZooKeeper, or a path of the REST Proxy."""
_TEXT_KEYS = frozenset(("name", "description", "msg", "message", "comment", "title", "summary"))
_DECIDING_KEYS = re.compile(r"when|if|loop|with_\w+|until|rules|unless|creates|removes")
_VARIABLE_KEYS = {"name", "value"}
"""The keys of a container's variable in Kubernetes, whose value is no command."""
_STOPPED = {"suspend": True, "replicas": 0}
"""Values with which Kubernetes runs no container."""
_BLOCK_SCALAR = re.compile(r"[|>][-+0-9]*\s*(?:#.*)?$")
_YAML_KEY = re.compile(r"^\s*(?:- +)*[\"']?[\w.-]+[\"']?:(?:\s|$)|^\s*[\[{]", re.MULTILINE)
_YAML_START = re.compile(
    r"(?:[ \t]*(?:#.*)?\n|---.*\n)*(?:apiVersion|kind|version|name|services|x-[\w-]+):(?:\s|$)"
)
"""The beginning of a file of Compose or Kubernetes, and of no script or makefile."""
_CARET = re.compile(r"\^[ \t]*\r?\n")


class AclCommand(NamedTuple):
    """The options of a kafka-acls command, or the reason why they are unknown."""

    line: int
    options: Sequence[str]
    error: AclTextError | None = None


def find_acl_commands(text: str) -> Iterator[AclCommand]:
    """Yield the commands of a script, or of a YAML file with scripts.

    Raise AclTextError where the script cannot be split into commands.
    """
    documents = _yaml_documents_or_none(text)
    if documents is None:
        if "kafka-acls.bat" in text:
            text = _CARET.sub("\\\\\n", text.replace("\\", "\\\\"))
        yield from _find_in_script(text, 1)
    else:
        source = text.splitlines()
        for document in reduce_compose_files(documents):
            yield from _find_in_value(document, source, "")


def _find_in_script(text: str, line: int, construct: str = "") -> Iterator[AclCommand]:
    before: ShellCommand | None = None
    ending: ShellCommand | None = None
    printed: ShellCommand | None = None
    variables = set[str]()
    for command in split_shell_commands(text, line):
        if ending is not None:
            command.construct = f"`{ending.words[0]}` of line {ending.line}"
        elif _is_end(command):
            ending = command
        command.construct = command.construct or construct
        if MARK in text and list(map(_remove_marks, command.words)) == [_remove_marks(text)]:
            if _MENTION.search(text) or _ABOUT_ACLS.search(text):
                yield _unknown_command(
                    command, "kafka-acls is in an expansion, which is not evaluated"
                )
            continue  # it would be split again and again
        if before is not None and before.is_piped:
            of_group = printed if before.words == ["<<"] else None
            yield from _find_in_piped_text(of_group or before, command)
        if _prints_grant(command):
            printed = command
        elif printed is not None and command.words == ["<<"] and _is_saved(command):
            yield _unknown_command(printed, "a file with kafka-acls, which is not evaluated")
        if _runs_variable(command, variables):
            yield _unknown_command(command, "kafka-acls is in a variable, which is not evaluated")
        else:
            yield from _find_in_command(command)
        before = command


def _runs_variable(command: ShellCommand, variables: set[str]) -> bool:
    """Return whether a variable with a grant may be run; add those that the command declares."""
    words = command.words
    texts = [*words, *(document.text for document in command.inputs)]
    used = {name for text in texts for name in _USED_NAME.findall(text)} & variables
    if words[:2] == ["printf", "-v"] and used | set(filter(_GRANT.search, words[3:])):
        variables.add(words[2])
    if words[0] in _DECLARING:
        for word in words[1:]:
            name = re.match(r"\w*", word)
            if name and (used or _GRANT.search(_SUBSTITUTION.sub("", word))):
                variables.add(name[0])
        return False
    is_alias = words[0] in variables and words[0] not in _PRINTING
    return is_alias or bool(used and (words[0] not in _PRINTING or command.is_piped))


def _is_end(command: ShellCommand) -> bool:
    """Return whether no later command of the script runs."""
    words = command.words
    while words[1:] and words[0] in ("command", "builtin"):
        words = words[1:]
    ends = words[0] in _ENDING or (words[0] == "kill" and f"{MARK}$$" in words)
    is_sure = not (command.construct or command.is_conditional or command.is_piped)
    return ends and is_sure and words != ["exec"]


def _prints_grant(command: ShellCommand) -> bool:
    return command.words[0] in _WRITING and any(map(_GRANT.search, command.words))


def _is_saved(command: ShellCommand) -> bool:
    """Return whether what a command prints is in a file that may be run."""
    return any(not re.match(r"/dev/|.*\.log$", name) for name in command.outputs)


def _find_in_piped_text(command: ShellCommand, following: ShellCommand) -> Iterator[AclCommand]:
    """Yield the commands that the following one reads, if it is a shell."""
    text = " ".join(command.words)
    if _shell_position(following.words) is None:
        if following.words[0] in _READING and _prints_grant(command):
            yield _unknown_command(command, "the text for a loop is not evaluated")
    elif command.words[0] == "cat" and command.inputs:
        yield from _find_in_here_documents(command)
    elif command.words[0] in _PRINTING and _MENTION.search(text):
        yield _unknown_command(command, "the text for a shell is not evaluated")
    elif _ABOUT_ACLS.search(text) and "kafka-acls" not in text:
        yield _unknown_command(command, "it may change ACLs, and a shell runs what it prints")


def _find_in_here_documents(command: ShellCommand) -> Iterator[AclCommand]:
    for document in command.inputs:
        yield from _find_in_script(document.text, document.line, command.construct)


def _find_in_command(command: ShellCommand) -> Iterator[AclCommand]:
    words = command.words
    shell = _shell_position(words)
    if shell is not None or words[0] in _EVALUATING:
        yield from _find_in_here_documents(command)
    elif words[0] != "cat" or not command.is_piped:
        for document in command.inputs:
            if _MENTION.search(document.text) or mentions_acls(document.text):
                yield _unknown_command(
                    command, "a here-document that no shell in this command runs"
                )
    if any(map(_NESTED.search, words)):
        yield _unknown_command(command, "kafka-acls is in an expansion, which is not evaluated")
        return
    if words[0] in (*_PRINTING, *_DECLARING):
        if _is_saved(command) and _prints_grant(command):
            yield _unknown_command(command, "a file with kafka-acls, which is not evaluated")
        return
    tool = next((at for at, word in enumerate(words) if _TOOL.fullmatch(word)), None)
    script = _script_position(words, shell)
    starts = [at for at in (tool, shell) if at]
    if words[0] in _JOINING and starts:  # its shell splits the words again
        yield from _find_in_script(" ".join(words[min(starts) :]), command.line, command.construct)
    elif script is not None and (tool is None or script <= tool):
        line = command.line + " ".join(words[:script]).count("\n")
        yield from _find_in_script(words[script], line, command.construct)
        if any(map(_MENTION.search, words[script + 1 :])):
            yield _unknown_command(command, "the arguments of a script are not evaluated")
    elif tool is not None and words[tool + 1 :]:
        yield _make_command(command, words[tool + 1 :], tool)
    elif tool is None and any(map(_MENTION.search, words)):
        yield _unknown_command(
            command, "kafka-acls is in a text or a variable, which is not evaluated"
        )
    elif tool is None and (
        _may_change_acls(words)
        or (shell is not None and any(map(_ABOUT_ACLS.search, command.files)))
    ):
        yield _unknown_command(command, "it may change ACLs, and is not a kafka-acls command")


def _make_command(command: ShellCommand, options: Sequence[str], tool: int) -> AclCommand:
    if command.construct:
        return _unknown_command(
            command, f"whether and how often it runs depends on the {command.construct}"
        )
    if command.is_conditional:
        return _unknown_command(
            command, "it runs only if the command before it fails, or a test holds"
        )
    if "xargs" in command.words[:tool]:
        return _unknown_command(command, "the words that xargs adds are not evaluated")
    return AclCommand(command.line, options)


def _may_change_acls(words: Sequence[str]) -> bool:
    """Return whether another tool may change ACLs, or a file with such commands is run."""
    runs_file = words[0] in _RUNNING_FILES or _SHELL.fullmatch(words[0]) is not None
    names = [word for word in words if runs_file and not re.match(r"-|.*\s", word)]
    if words[0].endswith(":"):  # a target of make
        return False
    names_acls = not _ACL_WORDS.isdisjoint(words) and _LISTING.isdisjoint(words)
    is_tool = names_acls or re.fullmatch(_ACL_TOOLS, words[0]) is not None
    return (
        is_tool
        or any(map(_ACL_PATH.search, words))
        or any(map(_ABOUT_ACLS.search, [words[0], *names]))
    )


def _unknown_command(command: ShellCommand, reason: str) -> AclCommand:
    said = " ".join(command.words).replace(MARK, "")
    said = said if len(said) <= 80 else f"{said[:77]}..."
    error = AclTextError(f"not read: `{said}`: {reason}", command.line)
    return AclCommand(command.line, (), error)


def _remove_marks(text: str) -> str:
    return text.replace(MARK, "")


def _shell_position(words: Sequence[str]) -> int | None:
    """Return where a command starts a shell: at first, or behind a tool such as docker."""
    return next((at for at, word in enumerate(words) if _SHELL.fullmatch(word)), None)


def _script_position(words: Sequence[str], shell: int | None) -> int | None:
    """Return which word a shell runs as a script."""
    is_text = re.search(r"\s", words[-1]) is not None
    if len(words) == 1 and is_text and not _SUBSTITUTED.search(words[0]):
        return 0  # the command of a Compose file with a shell as entry point
    if words[0] in _EVALUATING and is_text and _MENTION.search(words[-1]):
        return len(words) - 1
    for at in range(shell + 1, len(words) - 1) if shell is not None else ():
        if _RUNS_STRING.fullmatch(words[at]):
            return at + 1
        if not words[at].startswith(("-", "+")):
            break
    return None


def _yaml_documents_or_none(text: str) -> list[Any] | None:
    """Return the documents of a YAML or JSON file; None for a script, which may look like a text
    of YAML.
    """
    if text.startswith("#!") or not _YAML_KEY.search(text):
        return None
    try:
        documents = load_documents(text, with_lines=True)
    except AclTextError:
        if _YAML_START.match(text):
            raise
        return None
    structures = [document for document in documents if document is not None]
    is_yaml = all(
        isinstance(document, Mapping)
        or (isinstance(document, list) and all(isinstance(item, Mapping) for item in document))
        for document in structures
    )
    return structures if structures and is_yaml else None


def _find_in_value(value: Any, source: Sequence[str], construct: str) -> Iterator[AclCommand]:
    """Yield the commands in the strings of a YAML value."""
    if isinstance(value, list):
        for item, line in zip(value, getattr(value, "lines", ()), strict=False):
            yield from _find_in_list_item(item, line, source, construct)
    elif isinstance(value, Mapping) and value.keys() == _VARIABLE_KEYS:
        line = line_of_key(value, "value")
        yield from _find_in_string(f"{value['name']}={value['value']}", line, source, construct)
    elif isinstance(value, Mapping):
        deciding = [
            str(key)
            for key, item in value.items()
            if _DECIDING_KEYS.fullmatch(str(key)) or (key in _STOPPED and item == _STOPPED[key])
        ]
        if deciding:
            line = line_of_key(value, deciding[0])
            construct = f"`{deciding[0]}` of line {line}"
        for key, item in _join_arguments(value).items():
            if not (isinstance(item, str) and key in _TEXT_KEYS):
                line = line_of_key(value, str(key))
                yield from _find_in_list_item(item, line, source, construct)


def _find_in_list_item(
    item: Any, line: int, source: Sequence[str], construct: str
) -> Iterator[AclCommand]:
    if isinstance(item, str):
        yield from _find_in_string(item, line, source, construct)
    elif isinstance(item, list) and _is_command_line(item):
        words = [_mark_templates(str(word)) for word in item]
        yield from _find_in_command(ShellCommand(line, words, [], construct))
    else:
        yield from _find_in_value(item, source, construct)


def _join_arguments(value: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Return a Kubernetes container or Compose service with its command and arguments as one."""
    for first, second in (("command", "args"), ("entrypoint", "command")):
        words, arguments = value.get(first), value.get(second)
        if isinstance(words, list) and isinstance(arguments, list):
            if not any(_TOOL.fullmatch(str(word)) for word in words):
                continue
            others = {key: item for key, item in value.items() if key not in (first, second)}
            return {**others, first: [*words, *arguments]}
    return value


def _is_command_line(items: Sequence[Any]) -> bool:
    """Return whether a list is the words of one command, and not a list of commands."""
    return all(isinstance(item, str) for item in items) and any(
        _TOOL.fullmatch(item) or _SHELL.fullmatch(item) for item in items
    )


def _find_in_string(
    text: str, line: int, source: Sequence[str], construct: str
) -> Iterator[AclCommand]:
    if _MENTION.search(text):
        is_block = _BLOCK_SCALAR.search(source[line - 1]) if 0 < line <= len(source) else None
        yield from _find_in_script(text, line + bool(is_block), construct)


def _mark_templates(word: str) -> str:
    return re.sub(r"\$\{|\$\(|\$\w|\{\{", lambda match: MARK + match[0], word)
