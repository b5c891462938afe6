"""An ACL set with everything that decisions depend on."""

from pathlib import Path

import msgspec

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.acl_rules import acl_rules_of_release
from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.store import AclStore
from kafka_shim.pipeline.errors import PipelineError
from kafka_shim.policy.formats import parse_distinct_acls
from kafka_shim.protocol.api_versions import RELEASES


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
