"""What the test vectors cover, in numbers, for `vectors/README.md`."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from kafka_shim.authorizer.requirements import requirements_of_served_versions
from kafka_shim.conformance.vectors.vector_files import AclEntry, VectorFile
from kafka_shim.protocol.api_versions import parse_minor_release, served_versions
from kafka_shim.protocol.enums import ApiKey, ResourceType
from tests.recordings.conformance.play import API_OF

ACL_KINDS: Final = tuple(itertools.product(("ALLOW", "DENY"), ("LITERAL", "PREFIXED", "any name")))
"""An ACL by its permission and its pattern."""


class Figures:
    """Pairs of values that occur together in a vector, of those that can."""

    def __init__(self) -> None:
        self._count = 0
        self._denied = 0
        self._releases: dict[str, int] = Counter()
        self._versions: set[tuple[ApiKey, int]] = set()
        self._possible_versions: set[tuple[ApiKey, int]] = set()
        self._resources: dict[ApiKey, set[ResourceType]] = defaultdict(set)
        self._kinds: set[tuple[ApiKey, ResourceType, tuple[str, str]]] = set()
        self._codes: set[tuple[ApiKey, int]] = set()

    def add(self, vectors: VectorFile) -> None:
        release = parse_minor_release(vectors.release)
        self._releases[vectors.release] += vectors.vector_count
        for row in requirements_of_served_versions(release):
            self._resources[row.requirement.api] |= {need.resource_type for need in row.needs}
        for group in vectors.groups:
            entries = list(_kinds_by_resource(group.given.acls))
            for vector in group.vectors:
                api = API_OF[vector.when.api]
                low, high = served_versions(release).get(api, (0, -1))
                self._possible_versions |= {(api, each) for each in range(low, high + 1)}
                if low <= vector.when.version <= high:
                    self._versions.add((api, vector.when.version))
                self._codes |= {(api, code) for code in vector.then.error_codes}
                self._count += 1
                self._denied += bool({29, 30, 31, 53, 65} & set(vector.then.error_codes))
                user = vector.when.user.partition("/")[0]
                for principal, resource, kind in entries:
                    if principal in (f"User:{user}", "User:*"):
                        self._kinds.add((api, resource, kind))

    def lines(self) -> Iterator[str]:
        """Yield a table in Markdown."""
        apis = {api for api, _ in self._versions}
        pairs = {(api, kind) for api in apis for kind in self._resources[api]}
        possible = {(*pair, kind) for pair in pairs for kind in ACL_KINDS}
        yield "| figure | number |"
        yield "|---|---|"
        yield f"| vectors | {self._count:,} |"
        yield f"| with a denial in the response | {self._denied:,} |"
        yield f"| releases of Kafka | {len(self._releases)} |"
        yield f"| APIs | {len(apis)} |"
        versions = f"{len(self._versions)} of {len(self._possible_versions)}"
        yield f"| pairs of API and version | {versions} |"
        yield f"| pairs of API and error code | {len(self._codes)} |"
        yield (
            "| API, type of resource that it checks, and kind of ACL (permission and pattern) | "
            f"{len(self._kinds & possible)} of {len(possible)} |"
        )


def _kinds_by_resource(
    acls: Iterable[AclEntry],
) -> Iterator[tuple[str, ResourceType, tuple[str, str]]]:
    for acl in acls:
        pattern = "any name" if acl.resource_name == "*" else acl.pattern_type
        yield acl.principal, ResourceType[acl.resource_type], (acl.permission_type, pattern)


def figures_table(files: Sequence[VectorFile]) -> str:
    figures = Figures()
    for vectors in files:
        figures.add(vectors)
    return "\n".join(figures.lines()) + "\n"
