"""`kafka-shim vectors`: compare a broker with what real brokers answered (vectors/README.md)."""

import argparse
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from kafka_shim.cli import EXIT_MISMATCH
from kafka_shim.cli.progress_bar import ProgressBar
from kafka_shim.shim.errors import ConfigError, UnavailableError
from kafka_shim.text.data_text import json_text

if TYPE_CHECKING:
    from kafka_shim.conformance.vectors.vector_files import Vector, VectorFile, VectorGroup

DESCRIPTION = """\
Compare a broker or proxy with what real brokers of Apache Kafka answered: error codes, authorized
operations, lists and closed connections, for requests of users with ACLs.

  kafka-shim vectors run vectors/4.4.0 --bootstrap-server HOST:9092 --sasl-server HOST:9093
  kafka-shim vectors list vectors/4.4.0 --api Metadata --error 29
  kafka-shim vectors show vectors/4.4.0 --id 4.4.0/access-matrix/m17/1

The vectors are in the folder `vectors` of kafka-shim's repository. `run` prepares the broker with
Kafka's own requests. THE BROKER'S TOPICS AND ACLS ARE REMOVED. At --bootstrap-server, clients must
be super users without authentication. At --sasl-server, the users admin (a super user), alice, bob
and carol authenticate, each with the password NAME-secret. Each file has its broker's settings and
super users. The report begins with the rules of Kafka's authorization that the broker breaks, as in
"DENY on a prefix is ignored: 36 vectors". Exit codes: 0 nothing differs, 3 a response differs or a
vector could not be set up, 2 usage error, 1 the broker cannot be reached.
"""
FORMATS = ("text", "json", "junit")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = DESCRIPTION
    verbs = parser.add_subparsers(dest="verb", metavar="COMMAND", required=True)
    run_parser = verbs.add_parser("run", help="Run vectors on a broker")
    _add_selection_arguments(run_parser)
    run_parser.add_argument(
        "--bootstrap-server",
        required=True,
        metavar="HOST:PORT",
        help="Where super users connect without authentication",
    )
    run_parser.add_argument(
        "--sasl-server",
        metavar="HOST:PORT",
        help="Where users authenticate (default: that of --bootstrap-server)",
    )
    run_parser.add_argument(
        "--mechanism",
        choices=MECHANISMS,
        default=MECHANISMS[0],
        help="SASL mechanism of the users (default: PLAIN)",
    )
    run_parser.add_argument(
        "--log-in-as-admin",
        action="store_true",
        help="Prepare the broker as user admin: for brokers without unauthenticated super users",
    )
    run_parser.add_argument(
        "--settle-ms",
        type=int,
        default=0,
        metavar="N",
        help="Pause after requests that change the broker, which may apply them a little later;"
        " Kafka needs 300 (default: 0)",
    )
    run_parser.add_argument(
        "--format", choices=FORMATS, default=FORMATS[0], help="Format of the report (default: text)"
    )
    list_parser = verbs.add_parser("list", help="List vectors, one per line")
    _add_selection_arguments(list_parser)
    list_parser.add_argument("--api", metavar="NAME", help="Only this API, such as Metadata")
    list_parser.add_argument(
        "--error", type=int, metavar="CODE", help="Only responses with this error code"
    )
    list_parser.add_argument(
        "--json", action="store_true", help="Print the vectors as JSON, as in their file"
    )
    _add_selection_arguments(
        verbs.add_parser("show", help="Print vectors with what is given and why")
    )


def _add_selection_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="PATH", help="File of vectors, or a folder")
    parser.add_argument(
        "--id",
        action="append",
        default=[],
        metavar="PATTERN",
        help="Only vectors whose id matches, such as '*/m17/*' (repeatable; default: all)",
    )


def run(args: argparse.Namespace) -> int:
    files = list(_find_vector_files(args.files, args.id))
    if not files:
        raise ConfigError(f"no vectors in {' '.join(args.files)} match {' '.join(args.id)}")
    if args.verb == "run":
        return _run_on_broker(files, args)
    if args.verb == "list":
        _list_vectors([vector for _, _, vector in _iter_vectors(files)], args)
        return 0
    for vectors, group, vector in _iter_vectors(files):
        if not args.id or _matches_any_pattern(vector.id, args.id):
            print(_vector_text(vectors, group, vector))
    return 0


def _list_vectors(vectors: "Sequence[Vector]", args: argparse.Namespace) -> None:
    listed = [
        vector
        for vector in vectors
        if args.api in (None, vector.when.api)
        and (args.error is None or args.error in vector.then.error_codes)
    ]
    if args.json:
        import msgspec

        print(json_text(msgspec.to_builtins(listed)))
        return
    for vector in listed:
        print(_vector_line(vector))


def _find_vector_files(paths: Sequence[str], patterns: Sequence[str]) -> "Iterator[VectorFile]":
    """Yield the files with the groups of which a vector matches."""
    import msgspec

    from kafka_shim.conformance.vectors.vector_files import SUFFIX, read_vector_file

    for path in map(Path, paths):
        found = sorted(path.rglob(f"[a-z]*{SUFFIX}")) if path.is_dir() else [path]
        if not found:
            raise ConfigError(f"`{path}` has no files of vectors")
        for file in found:
            if file.name == "schema.json":
                continue
            vectors = read_vector_file(file)
            groups = tuple(
                group
                for group in vectors.groups
                if not patterns
                or any(_matches_any_pattern(each.id, patterns) for each in group.vectors)
            )
            if groups:
                yield msgspec.structs.replace(vectors, groups=groups)


def _matches_any_pattern(vector_id: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(vector_id, pattern) for pattern in patterns)


def _iter_vectors(
    files: "Sequence[VectorFile]",
) -> "Iterator[tuple[VectorFile, VectorGroup, Vector]]":
    for vectors in files:
        for group in vectors.groups:
            for vector in group.vectors:
                yield vectors, group, vector


def _run_on_broker(files: "Sequence[VectorFile]", args: argparse.Namespace) -> int:
    from kafka_shim.client.client import ClientError
    from kafka_shim.conformance.vectors.report import FORMS, VectorReport
    from kafka_shim.conformance.vectors.runner import (
        BrokerAddresses,
        VectorResult,
        VectorRunner,
    )

    addresses = BrokerAddresses(
        args.bootstrap_server,
        args.sasl_server or args.bootstrap_server,
        args.mechanism,
        args.log_in_as_admin,
    )
    results: list[VectorResult] = []
    total = sum(vectors.vector_count for vectors in files)
    with ProgressBar("running", total, is_shown=True) as progress:

        def add_result(result: VectorResult) -> None:
            results.append(result)
            progress(len(results))

        try:
            runner = VectorRunner(addresses, settle_s=args.settle_ms / 1000)
            for vectors in files:
                runner.run_file(vectors, add_result)
        except (ClientError, OSError) as error:
            raise UnavailableError(f"{args.bootstrap_server}: {error}") from error
        runner.close()
    report = VectorReport(args.bootstrap_server, tuple(results), tuple(runner.setting_differences))
    print(FORMS[args.format](report), end="")
    return 0 if report.has_passed else EXIT_MISMATCH


def _vector_line(vector: "Vector") -> str:
    when, then = vector.when, vector.then
    outcome = then.outcome or ", ".join(map(str, then.error_codes)) or "ok"
    return f"{vector.id}  {when.user}  {when.api} v{when.version}  {outcome}"


def _vector_text(vectors: "VectorFile", group: "VectorGroup", vector: "Vector") -> str:
    """Return a vector in words, with everything that is needed to understand it."""
    import msgspec

    from kafka_shim.protocol.code_names import error_name_with_code

    def json(content: object) -> str:
        return msgspec.json.encode(content).decode()

    given, when, then = group.given, vector.when, vector.then
    outcome = then.outcome or ", ".join(map(error_name_with_code, then.error_codes)) or "no error"
    acls = [
        f"    {acl.permission_type} {acl.operation} on {acl.pattern_type} {acl.resource_type}"
        f" `{acl.resource_name}` for {acl.principal} from {acl.host}"
        for acl in given.acls
    ]
    earlier = group.vectors.index(vector)
    lines = [
        vector.id,
        f"  given Kafka {vectors.release}, topics {', '.join(given.topics) or 'none'}",
        f"    groups {', '.join(given.groups) or 'none'}, ACLs:",
        *(acls or ["    none"]),
        *([f"  and {earlier} earlier requests of its group"] if earlier else []),
        f"  when {when.user} sends {when.api} v{when.version} {json(when.request)}",
        f"  then {outcome}",
        *([f"    {json(then.response)}"] if then.response is not None else []),
        *(f"  why {each}: {vectors.why[each]}" for each in vector.why),
    ]
    return "\n".join(lines)
