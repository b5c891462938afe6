"""An ACL set with all that a decision depends on, small enough to be sent to every worker."""

import hashlib
from pathlib import Path

import msgspec

from authorizer.acl_formats import read
from authorizer.acl_names import AclTextError
from authorizer.acl_releases import rules_of
from authorizer.authorizer import StandardAuthorizer
from authorizer.model import Acl
from authorizer.store import AclStore
from pipeline.errors import PipelineError
from protocol.api_versions import RELEASES

_ENGINES: dict[str, StandardAuthorizer] = {}
_ENGINES_MAX = 4


class AclSet(msgspec.Struct, frozen=True):
    """ACLs, super users and the release whose rules decide."""

    acls: tuple[Acl, ...]
    super_users: tuple[str, ...] = ()
    allow_everyone: bool = False
    release: str = RELEASES[-1]

    def digest(self) -> str:
        return hashlib.sha256(msgspec.msgpack.encode(self)).hexdigest()


def engine(acl_set: AclSet, digest: str) -> StandardAuthorizer:
    """The broker's own authorizer with this set; made once in each worker process."""
    found = _ENGINES.get(digest)
    if found is None:
        if len(_ENGINES) >= _ENGINES_MAX:
            _ENGINES.clear()
        found = _ENGINES[digest] = StandardAuthorizer(
            super_users=acl_set.super_users,
            allow_everyone=acl_set.allow_everyone,
            rules=rules_of(acl_set.release),
            store=AclStore(acl_set.acls),
        )
    return found


def read_acls(path: str) -> list[Acl]:
    """The ACLs of a file in any form of `acl_formats`, each once; PipelineError if not."""
    try:
        return read(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise PipelineError(f"{path} cannot be read: {error}") from error
    except AclTextError as error:
        raise PipelineError(f"{path}: {error}") from error
