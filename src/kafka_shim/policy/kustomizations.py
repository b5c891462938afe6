"""Check that kustomize does not change the ACLs of a folder's files."""

from pathlib import Path

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.policy.formats.documents import load_document
from kafka_shim.text.input_files import InputError

KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml")
_PLAIN_KEYS = frozenset(
    {
        *("apiVersion", "kind", "metadata", "resources", "namespace", "labels", "commonLabels"),
        *("commonAnnotations", "configMapGenerator", "secretGenerator", "generatorOptions"),
        *("images", "buildMetadata", "sortOptions"),
    }
)
"""Keys that change no ACLs of the files that are read."""


def check_kustomization(folder: Path, path: Path, text: str) -> None:
    """Raise InputError for what kustomize changes in the files, or takes from elsewhere."""
    try:
        content = load_document(text)
    except AclTextError as error:
        raise InputError(f"{path}: {error}") from error
    content = content if isinstance(content, dict) else {}
    changes = [str(key) for key in content if key not in _PLAIN_KEYS]
    changes += [
        str(name)
        for name in content.get("resources") or ()
        if not (where := (path.parent / str(name)).resolve()).exists()
        or not where.is_relative_to(folder.resolve())
    ]
    if changes:
        raise InputError(
            f"{path}: `{changes[0]}` of kustomize is not evaluated: give the output of `kubectl"
            " kustomize`"
        )
