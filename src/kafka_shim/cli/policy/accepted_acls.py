"""Read ACLs from files and folders, of which a release accepts all."""

from collections.abc import Sequence

from kafka_shim.authorizer.acl_releases import acl_rules_of_release
from kafka_shim.authorizer.acl_requests import creation_error
from kafka_shim.authorizer.model import Acl
from kafka_shim.cli.acl_files import read_located_acls
from kafka_shim.cli.input_error import InputError, file_and_line
from kafka_shim.cli.policy.descriptions import acl_sentence
from kafka_shim.policy.lint import LocatedAcl


def read_accepted_acls(paths: Sequence[str], release: str) -> list[Acl]:
    """Return the ACLs without duplicates. Raise InputError also for ACLs that the release
    rejects.
    """
    return list(dict.fromkeys(each.acl for each in read_accepted_located_acls(paths, release)))


def read_accepted_located_acls(paths: Sequence[str], release: str) -> list[LocatedAcl]:
    """Return the ACLs with their places. Raise InputError also for ACLs that the release
    rejects.
    """
    located_acls = read_located_acls(paths)
    rules = acl_rules_of_release(release)
    rejections = [
        f"{file_and_line(each.path, each.line)}: Kafka {release} refuses {acl_sentence(each.acl)}:"
        f" {error.message}"
        for each in located_acls
        if (error := creation_error(each.acl, rules)) is not None
    ]
    if rejections:
        raise InputError(*rejections)
    return located_acls
