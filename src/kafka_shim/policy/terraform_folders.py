"""Check that Terraform, which reads one folder and its modules, makes the ACLs of a folder."""

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from kafka_shim.policy.formats.files_without_acls import local_modules
from kafka_shim.policy.formats.hcl import find_clusters
from kafka_shim.text.input_files import InputError

_ADVICE = "and has ACLs; give the output of `terraform show -json`"
_OVERRIDE = re.compile(r"(?:.*_)?override\.tf(?:\.json)?")
_OVERRIDING = re.compile(r"\b(?:resource|module)\b")
_IGNORED = re.compile(r"\..*\.tf(?:\.json)?")


class _Call:
    """A local module that a file uses: its folder, the place, and whether it is made."""

    def __init__(self, folder: Path, where: str, *, is_made: bool) -> None:
        self.folder = folder
        self.where = where
        self.is_made = is_made


def is_ignored_by_terraform(name: str) -> bool:
    """Return whether Terraform does not read a file with this name, although it ends in .tf."""
    return _IGNORED.fullmatch(name) is not None


def check_terraform_folder(
    folder: Path, texts: Mapping[Path, str], acl_files: Collection[Path]
) -> None:
    """Raise InputError for ACLs that Terraform does not make, or only in another folder.

    `texts` are the .tf files in the folder and below it, `acl_files` those with ACLs.
    """
    calls = _calls_by_folder(folder, texts)
    with_acls = {path.parent.resolve() for path in acl_files}
    if not with_acls:
        return
    for path, text in texts.items():
        if _OVERRIDE.fullmatch(path.name) and _OVERRIDING.search(text):
            raise InputError(f"{path}: it overrides resources of other files, {_ADVICE}")
    called = {call.folder: call.where for each in calls.values() for call in each}
    reached = {root: frozenset(_made_folders(root, calls)) for root in calls if root not in called}
    for unmade in with_acls.difference(*reached.values()):
        raise InputError(f"{called[unmade]} is made 0 times, {_ADVICE}")
    for place in with_acls:
        files = [path for path in acl_files if path.parent.resolve() == place]
        if len(set[str]().union(*(find_clusters(texts[path]) for path in files))) > 1:
            raise InputError(f"{place}: ACLs of several clusters, give those of one")
    roots = [root for root, folders in reached.items() if folders & with_acls]
    for root in roots:
        above = [each for each in calls if each in root.parents and each not in reached[root]]
        if above or reached[root] & with_acls != reached[roots[0]] & with_acls:
            other = above[0] if above else roots[0]
            raise InputError(
                f"{folder}: Terraform runs in {root} or in {other}, not in both, and no module of"
                " one uses the other; give one of them"
            )


def _calls_by_folder(folder: Path, texts: Mapping[Path, str]) -> Mapping[Path, list[_Call]]:
    """Return the local modules that each folder uses. Raise InputError for one without a file."""
    calls: dict[Path, list[_Call]] = {path.parent.resolve(): [] for path in texts}
    for path, text in texts.items():
        for module in local_modules(text):
            target = (path.parent / module.source).resolve()
            where = f"{path}:{module.line}: the module {module.source}"
            if target in calls:
                calls[path.parent.resolve()].append(_Call(target, where, is_made=module.is_made))
            elif module.is_made:
                raise InputError(f"{where} has no .tf files within {folder}")
    return calls


def _made_folders(root: Path, calls: Mapping[Path, list[_Call]]) -> Iterator[Path]:
    """Yield the folder in which Terraform runs, and those of the modules that it makes."""
    waiting, reached = [root], set[Path]()
    while waiting:
        folder = waiting.pop()
        if folder not in reached:
            reached.add(folder)
            yield folder
            waiting += [call.folder for call in calls[folder] if call.is_made]
