"""An ACL set with everything that decisions depend on, small enough to be sent to workers."""

import hashlib
from pathlib import Path

import msgspec

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.acl_releases import acl_rules_of_release
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.store import AclStore
from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.policy.formats import parse_distinct_acls
from kafka_shim.protocol.api_versions import RELEASES

_AUTHORIZERS: dict[str, StandardAuthorizer] = {}
_AUTHORIZERS_MAX = 4


class AclSet(msgspec.Struct, frozen=True):
    """ACLs, super users, and the release that decides."""

    acls: tuple[Acl, ...]
    super_users: tuple[str, ...] = ()
    allow_everyone_if_no_acl: bool = False
    release: str = RELEASES[-1]

    def build_authorizer(self) -> StandardAuthorizer:
        """Return the broker's authorizer with this set; keep it, since creating it takes time."""
        return StandardAuthorizer(
            super_users=self.super_users,
            allow_everyone=self.allow_everyone_if_no_acl,
            rules=acl_rules_of_release(self.release),
            store=AclStore(self.acls, caches_lookups=True),
        )


class PackedAclSet(msgspec.Struct, frozen=True):
    """An ACL set as bytes for workers; as objects, 100,000 ACLs would take seconds to send."""

    msgpack_bytes: bytes
    sha256_hex: str

    def unpack(self) -> AclSet:
        return msgspec.msgpack.decode(self.msgpack_bytes, type=AclSet)

    def cached_authorizer(self) -> StandardAuthorizer:
        """Return this process's authorizer with this set, which all its tasks share."""
        found = _AUTHORIZERS.get(self.sha256_hex)
        if found is None:
            if len(_AUTHORIZERS) >= _AUTHORIZERS_MAX:
                _AUTHORIZERS.clear()
            found = _AUTHORIZERS[self.sha256_hex] = self.unpack().build_authorizer()
        return found


def pack_acl_set(acl_set: AclSet) -> PackedAclSet:
    """Return the set as bytes with its identity."""
    content = msgspec.msgpack.encode(acl_set)
    return PackedAclSet(content, hashlib.sha256(content).hexdigest())


def read_distinct_acls_from_file(path: str) -> list[Acl]:
    """Return a file's ACLs, in any format, without duplicates. Raise PipelineError if it has
    none.
    """
    try:
        return parse_distinct_acls(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise PipelineError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise PipelineError(f"{path}: not a text file in UTF-8") from error
    except AclTextError as error:
        raise PipelineError(f"{path}: {error}") from error
