"""Write the test vectors in `vectors/` from the recordings of real brokers.

`python -m tests.recordings.vectors` writes all files, and `vectors/README.md`'s figures. Nothing is
computed by the shim: a vector has the recorded response, reduced to what depends on permissions.
"""

import base64
import itertools
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from kafka_shim.authorizer.requirement import BoundRequirement
from kafka_shim.authorizer.requirements import requirements_of_served_versions
from kafka_shim.client.version_fields import reset_unsupported_fields
from kafka_shim.conformance.vectors.permission_fields import (
    APIS_THAT_LIST_EVERYTHING,
    drop_foreign_elements,
    permission_field_presence,
    permission_fields,
    texts_in,
)
from kafka_shim.conformance.vectors.vector_files import (
    FORMAT_VERSION,
    AclEntry,
    BrokerSetup,
    Expectation,
    Request,
    Situation,
    Vector,
    VectorFile,
    VectorGroup,
    write_vector_file,
)
from kafka_shim.protocol.api_versions import parse_minor_release, served_versions
from kafka_shim.protocol.code_names import error_name_with_code
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.codec.catalogue import message_classes_by_name
from kafka_shim.protocol.codec.message_spec import FieldSpec
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.wire_json import PlainForm, message_json, uuid_text
from tests.docs.shown import ROOT
from tests.oracle.real_kafka import USERS, settings_of
from tests.recordings.codes import codes_of
from tests.recordings.conformance.play import API_OF, RULES, SUPER_USERS_OF_RULES
from tests.recordings.conformance.scenario import (
    KEEPING,
    Scenario,
    Step,
    load,
    recordings,
    topic_id_of,
)

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


FOLDER: Final = ROOT / "vectors"
SUBJECTS: Final = {
    "": "requests",
    "open": "everyone-is-allowed-without-acls",
    "none": "no-authorizer",
    "matrix": "access-matrix",
    RULES: RULES,
}
"""The subjects by the suffix of a recording; scripts of a recording are a subject of their own."""
STORIES: Final = "stories"
NOT_FOR_CLIENTS: Final = frozenset(
    {
        *("ApiVersions", "SaslHandshake", "SaslAuthenticate"),
        *("LeaderAndIsr", "UpdateMetadata", "StopReplica", "ControlledShutdown"),
    }
)
"""APIs without permissions, and those between brokers with ZooKeeper."""
MODES: Final[Mapping[str, Mapping[str, str]]] = {
    "open": {"allow.everyone.if.no.acl.found": "true"},
    "none": {"authorizer.class.name": ""},
}
LEFT_OUT: Final = frozenset({"3.9.1"})
"""Recordings of a release whose later patch is there."""
BROKER_LOGGER: Final = 8
"""The type of resources that are loggers of a broker, which its log4j file defines."""
FIGURES_BEGIN: Final = "<!-- figures -->"
FIGURES_END: Final = "<!-- end -->"
OUTCOMES: Final = ("closed", "silent")
WAITED: Final = {"waits": True}
"""No response within seconds: how long a request waits has nothing to do with permissions."""


def vector_files(name: str) -> Iterator[VectorFile]:
    """Yield the files of a recording, such as `4.4.0` or `4.4.0-matrix`."""
    release, _, mode = name.partition("-")
    by_subject: dict[str, list[VectorGroup]] = {}
    checks = Checks(release)
    for scenario in load(name):
        subject = STORIES if not mode and scenario.prefix.startswith("t") else SUBJECTS[mode]
        group = vector_group(scenario, f"{release}/{subject}", checks)
        if group.vectors:
            by_subject.setdefault(subject, []).append(group)
    for subject, groups in by_subject.items():
        used = {each for group in groups for vector in group.vectors for each in vector.why}
        yield VectorFile(
            FORMAT_VERSION,
            release,
            subject,
            broker_setup(release, mode),
            {each: text for each, text in checks.texts.items() if each in used},
            tuple(groups),
        )


def broker_setup(release: str, mode: str) -> BrokerSetup:
    settings = settings_of(release) | dict(MODES.get(mode, {}))
    super_users = SUPER_USERS_OF_RULES if mode == RULES else ("User:ANONYMOUS", "User:admin")
    return BrokerSetup(settings, super_users, USERS)


class Checks:
    """The permission checks of a release, in words."""

    def __init__(self, release: str) -> None:
        self._rows = list(requirements_of_served_versions(parse_minor_release(release)))
        self.texts = {row.requirement.id: _check_text(row) for row in self._rows}

    def of_request(self, api: ApiKey, version: int) -> tuple[str, ...]:
        """Return the ids of the checks that a broker may make for a request."""
        return tuple(
            row.requirement.id
            for row in self._rows
            if row.requirement.api is api and row.needs and row.is_checked_in_version(version)
        )


def _check_text(row: BoundRequirement) -> str:
    needs = " or ".join(
        dict.fromkeys(f"{need.operation.name} on {need.resource_type.name}" for need in row.needs)
    )
    requirement = row.requirement
    kip = f" (KIP-{requirement.kip})" if requirement.kip else ""
    condition = f", {requirement.when}" if requirement.when else ""
    effects = " or ".join(
        dict.fromkeys(
            f"{denial.effect.value} {error_name_with_code(denial.error_in_response)}"
            if denial.error_in_response
            else denial.effect.value
            for denial in requirement.denied
        )
    )
    return f"{needs}{condition}; otherwise: {effects}{kip}"


def vector_group(scenario: Scenario, where: str, checks: Checks) -> VectorGroup:
    topics = {name: uuid_text(topic_id_of(name)) for name in scenario.topics}
    settings = scenario.settings if scenario.settings != KEEPING else {}
    given = Situation(
        scenario.prefix,
        topics,
        tuple(scenario.groups),
        tuple(map(acl_entry, scenario.acls)),
        settings,
    )
    names = set(texts_in([step.request for step in scenario.steps]))
    vectors = [
        vector(step, f"{where}/{scenario.prefix}/{number}", checks, names, scenario.rule)
        for number, step in enumerate(scenario.steps, 1)
        if is_about_permissions(step)
    ]
    return VectorGroup(given, tuple(vectors), scenario.rule, scenario.case)


def is_about_permissions(step: Step) -> bool:
    """Return whether what happens depends on permissions, and not on time or the machine."""
    if step.api not in NOT_FOR_CLIENTS and step.response != WAITED:
        resources = step.request.get("resources", ())
        return all(row.get("resource_type") != BROKER_LOGGER for row in resources)
    return False


def acl_entry(acl: Mapping[str, Any]) -> AclEntry:
    return AclEntry(
        ResourceType(acl["resource_type"]).name,
        acl["resource_name"],
        acl["principal"],
        acl["host"],
        Operation(acl["operation"]).name,
        Permission(acl["permission_type"]).name,
        PatternType(acl.get("resource_pattern_type", PatternType.LITERAL)).name,
    )


def vector(step: Step, vector_id: str, checks: Checks, names: Container[str], rule: str) -> Vector:
    api = API_OF[step.api]
    name = f"{step.api}Request"
    request = msgspec.convert(step.request, message_classes_by_name(name)[name])
    reset_unsupported_fields(request, step.version)
    when = Request(
        step.user,
        step.api,
        step.version,
        request_json(request, step.version, leaves_out_defaults=bool(rule)),
        base64.b64encode(codecs.write_request(request, step.version)).decode(),
        {camel_path(path): camel_source(source) for path, source in step.takes.items()},
        step.later,
    )
    assert not step.token, vector_id  # not in the published recordings
    assert not step.after_ms, vector_id
    why = () if rule else checks.of_request(api, step.version)
    prefix = vector_id.split("/")[2]
    then = expectation(
        api, step, prefix, names, permission_field_presence if rule else permission_fields
    )
    return Vector(vector_id, when, then, why, step.label)


def request_json(request: Any, version: int, *, leaves_out_defaults: bool) -> Any:
    if leaves_out_defaults:
        return WithoutDefaults().message(request, version)
    return without_empty_fields(message_json(request, version))


class WithoutDefaults(PlainForm):
    """The form of Kafka's request log, without fields at their defaults."""

    def has(self, field: FieldSpec, content: Any, version: int) -> bool:
        return content != (field.default if field.default is not ... else type(content)())


def without_empty_fields(value: Any) -> Any:
    """Return JSON without fields that are null or empty."""
    if isinstance(value, dict):
        return {
            name: without_empty_fields(content)
            for name, content in value.items()
            if content not in (None, "", [])
        }
    return [without_empty_fields(each) for each in value] if isinstance(value, list) else value


def expectation(
    api: ApiKey,
    step: Step,
    prefix: str,
    names: Container[str],
    reduced: Callable[[ApiKey, Any], dict[str, Any]],
) -> Expectation:
    outcome = next((name for name in OUTCOMES if step.response == {name: True}), None)
    if outcome is not None:
        return Expectation(outcome)
    codes = sorted(set(codes_of(step.response)) - {0})
    fields = reduced(api, step.response)
    if api in APIS_THAT_LIST_EVERYTHING:
        fields = drop_foreign_elements(fields, prefix, names)
    if api is ApiKey.SHARE_FETCH and not codes:
        del fields["responses"]  # a share partition may be ready, or not yet
    return Expectation("", tuple(codes), fields)


def camel_path(path: str) -> str:
    return re.sub(r"_([a-z0-9])", lambda match: match[1].upper(), path)


def camel_source(source: str) -> str:
    label, colon, path = source.partition(":")
    return f"{label}{colon}{camel_path(path)}"


def is_published(name: str) -> bool:
    """Return whether a recording becomes vectors; differences that were found repeat others."""
    return name not in LEFT_OUT and name.partition("-")[2] in SUBJECTS


def published_files(names: Sequence[str]) -> Iterator[VectorFile]:
    """Yield the files of recordings."""
    for name in names:
        yield from vector_files(name)


def path_of(vectors: VectorFile) -> Path:
    return FOLDER / vectors.release / f"{vectors.subject}.json"


def schema_text() -> str:
    """Return the JSON schema of the files."""
    return msgspec.json.format(msgspec.json.encode(msgspec.json.schema(VectorFile))).decode() + "\n"


def page_with_figures(page: str, table: str) -> str:
    """Return the page with this table between its two marks."""
    start, _, rest = page.partition(FIGURES_BEGIN)
    return f"{start}{FIGURES_BEGIN}\n{table}{FIGURES_END}{rest.partition(FIGURES_END)[2]}"


def main() -> None:
    for release in FOLDER.glob("[0-9]*"):
        shutil.rmtree(release)
    files = list(published_files([name for name in recordings() if is_published(name)]))
    for vectors in files:
        write_vector_file(path_of(vectors), vectors)
    (FOLDER / "schema.json").write_text(schema_text(), encoding="utf-8")
    page = FOLDER / "README.md"
    text = page_with_figures(page.read_text(encoding="utf-8"), figures_table(files))
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
