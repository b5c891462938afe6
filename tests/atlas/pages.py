"""The atlas as files: facts in two JSON files, ACLs in several formats, and a page with tables."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import Acl, acls_to_objects
from kafka_shim.policy.formats import format_acls_losslessly
from kafka_shim.policy.formats.json_objects import parse_objects
from kafka_shim.policy.formats.kafka_commands import format_acls as format_commands
from tests.atlas.program import Program

FOLDER = Path(__file__).parents[2] / "docs" / "reference" / "atlas"
FACTS = FOLDER / "atlas.json"
CLIENTS = FOLDER / "clients.json"
PRINCIPAL = "User:app"
FORMATS = {
    "yaml": ".yaml",
    "commands": ".sh",
    "strimzi": ".yaml",
    "terraform": ".tf",
}
"""The formats, each in a folder, with the extension of its files."""
_PAGE_HEAD = """\
# ACLs of known programs

The fewest permissions (ACLs) of producers (idempotent, transactional), consumers, Connect,
MirrorMaker, Debezium, Streams, Spring, Flink, Spark and tools. Each program ran against the
shim, which found its ACLs. Two runs prove the ACLs. With only these ACLs, the program does its task
on the shim and on a real Kafka. Without ACLs, the program fails on the real Kafka.

In the ACLs, the topic is `orders`, a new topic is `invoices`, the group is `billing`, the
transactional id is `billing-tx`, and the principal is `User:app`. Replace these names by your
names. The files have the ACLs as YAML, as kafka-acls commands, as a KafkaUser of Strimzi and as
Terraform's `kafka_acl` resources ([formats](../../guides/acl-formats.md)). If a format cannot
express the ACLs, there is no file. [atlas.json](atlas.json) has all entries, for programs. To add
the ACLs, run the commands, or `kafka-shim policy plan` ([ACLs as
code](../../guides/acls-as-code.md)). To remove them, replace `--add` by `--remove` in the commands.

Read, Write and Create are enough for clients to see a topic, because an ALLOW of Read or Write
includes Describe. An idempotent producer needs no IdempotentWrite since 2.8, because Write on any
topic is enough ([InitProducerId](../permissions.md#initproducerid)). Before 2.8, add
IdempotentWrite on the cluster. Another task of a program, such as a dead-letter topic, can need
more.

The ACLs are those of the release in the last column. For another release, or for a program that is
not here, run it: `kafka-shim least-acls --kafka-version 3.9 -- COMMAND` ([least
ACLs](../../guides/least-acls.md)).

## Kafka Streams

A Kafka Streams application also creates its own topics. The names of these topics begin with the
`application.id` and a dash. The example `streams-word-count` needs these ACLs:

- Read on its input topics
- Write on its output topics
- Read, Write and Create on its own topics: one prefixed ACL for each operation is enough
- Read on the group with the name of the `application.id`

## Kafka Connect

A distributed worker needs Read, Write and Create on its topics for configs, offsets and status, and
Read on the group with the name of its `group.id`. A source connector also needs Write on its
topics. A sink connector needs Read on its topics, and on the group `connect-` with its name.

## MirrorMaker 2

MirrorMaker 2 ran with one cluster as source and target. So the ACLs of `mirror-maker-2` are those
on both. They are sufficient, but maybe not the fewest.

## Permissions of each program

The ACLs of tasks that list are sufficient, but maybe not the fewest. With those of MirrorMaker 2,
they include all access that made a response longer, such as settings and listed topics.

"""


class Entry(msgspec.Struct, frozen=True):
    """A program, its ACLs as JSON objects, and the release of the real broker that proved them."""

    name: str
    version: str
    does: str
    proven_on: str
    acls: list[dict[str, str]]

    @classmethod
    def of_program(cls, program: Program, acls: Sequence[Acl], proven_on: str) -> "Entry":
        renamed = [msgspec.structs.replace(acl, principal=PRINCIPAL) for acl in acls]
        objects = acls_to_objects(renamed)
        return cls(program.name, program.version, program.does, proven_on, objects)


def read_entries() -> list[Entry]:
    """Return the entries of atlas.json; none if there is no such file."""
    return msgspec.json.decode(FACTS.read_bytes(), type=list[Entry]) if FACTS.exists() else []


class ClientApis(msgspec.Struct, frozen=True):
    """The versions of each API that a version of a client software used."""

    software: str
    version: str
    apis: dict[str, list[int]]


class Clients(msgspec.Struct, frozen=True):
    """What the clients in the traces of these programs used."""

    traces: list[str] = []
    clients: list[ClientApis] = []


def read_clients() -> Clients:
    return msgspec.json.decode(CLIENTS.read_bytes(), type=Clients)


def write_clients(rows: Sequence[dict[str, Any]], traces: list[str], earlier: Clients) -> None:
    """Write clients.json from the rows of `pipeline clients` and earlier ones, and the page."""
    clients: dict[tuple[str, str], dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for client in earlier.clients:
        for api, versions in client.apis.items():
            clients[client.software, client.version][api].update(versions)
    for row in rows:
        if row["software_name"]:
            name = row["software_name"], row["software_version"]
            clients[name][row["api"]].update(row["versions"])
    found = [
        ClientApis(*name, {api: sorted(apis[api]) for api in sorted(apis)})
        for name, apis in sorted(clients.items())
    ]
    names = list(dict.fromkeys([*earlier.traces, *traces]))
    text = msgspec.json.format(msgspec.json.encode(Clients(names, found)), indent=1)
    CLIENTS.write_bytes(text + b"\n")
    write_atlas(read_entries())


def write_atlas(entries: Sequence[Entry]) -> None:
    """Write atlas.json and the files made from the facts; delete other files of the formats."""
    FOLDER.mkdir(exist_ok=True)
    FACTS.write_bytes(msgspec.json.format(msgspec.json.encode(entries), indent=1) + b"\n")
    files = files_of_entries(entries)
    for path in (path for name in FORMATS for path in (FOLDER / name).glob("*")):
        if str(path.relative_to(FOLDER)) not in files:
            path.unlink()
    for name, text in files.items():
        (FOLDER / name).parent.mkdir(exist_ok=True)
        (FOLDER / name).write_text(text)


def files_of_entries(entries: Sequence[Entry]) -> dict[str, str]:
    """Return the text of each file that is made from the entries, by its path in the atlas."""
    files = {}
    for entry in newest_versions(entries):
        for name, extension in FORMATS.items():
            text = _acls_as_text(parse_objects(entry.acls), name)
            if text:
                files[f"{name}/{entry.name}{extension}"] = text
    return files | {"README.md": _page(entries, files)}


def newest_versions(entries: Sequence[Entry]) -> list[Entry]:
    """Return the first entry of each program, which is its newest version."""
    newest: dict[str, Entry] = {}
    for entry in entries:
        newest.setdefault(entry.name, entry)
    return list(newest.values())


def _acls_as_text(acls: list[Acl], format_name: str) -> str:
    """Return the ACLs in a format; empty if there are none, or if it cannot express one."""
    if not acls:
        return ""
    if format_name == "commands":
        return format_commands(acls, bootstrap="HOST:PORT")
    try:
        return format_acls_losslessly(acls, format_name)
    except AclTextError:
        return ""


def _page(entries: Sequence[Entry], files: dict[str, str]) -> str:
    rows = []
    for entry in newest_versions(entries):
        links = [
            f"[{name}]({path})"
            for name, extension in FORMATS.items()
            if (path := f"{name}/{entry.name}{extension}") in files
        ]
        acls = "<br>".join(_acl_in_words(acl) for acl in entry.acls) or "none"
        cells = (entry.name, entry.version, entry.does, acls, ", ".join(links), entry.proven_on)
        rows.append(f"| {' | '.join(cells)} |\n")
    head = _table_head("program", "version", "task", "ACLs", "files", "proven on Kafka")
    tables = (head, *rows, _VERSIONS_HEAD, *_version_rows(entries), *_client_tables())
    return _PAGE_HEAD + "".join(tables) + _PAGE_END


def _table_head(*columns: str) -> str:
    return f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|\n"


_VERSIONS_HEAD = """
## Versions of a program

What the newer version needs in comparison with the older one, both proven as above:

""" + _table_head("program", "older version", "newer version", "difference")


def _version_rows(entries: Sequence[Entry]) -> list[str]:
    """Return a row for each older version of a program, compared with the next newer one."""
    rows = []
    newer: dict[str, Entry] = {}
    for entry in entries:
        if entry.name in newer:
            now = newer[entry.name]
            cells = (entry.name, entry.version, now.version, _difference(entry, now))
            rows.append(f"| {' | '.join(cells)} |\n")
        newer[entry.name] = entry
    return rows


def _difference(older: Entry, newer: Entry) -> str:
    changes = [
        f"{verb} {_acl_in_words(acl)}"
        for verb, acls, others in (
            ("newly needs", newer.acls, older.acls),
            ("no longer needs", older.acls, newer.acls),
        )
        for acl in acls
        if acl not in others
    ]
    return "<br>".join(changes) or "the same ACLs"


_CLIENTS_HEAD = """
## API versions of clients

`kafka-shim pipeline clients` read {} traces of these programs. These are the APIs that each client
software used in all of them together, with their versions. Clients that do not send the name of
their software are left out.
"""


def _client_tables() -> list[str]:
    """Return a table for each client software, with a column for each version."""
    found = read_clients()
    clients: dict[str, list[ClientApis]] = defaultdict(list)
    for client in found.clients:
        clients[client.software].append(client)
    texts = [_CLIENTS_HEAD.format(len(found.traces))]
    for software, versions in clients.items():
        texts.append(f"\n### {software}\n\n")
        texts.append(_table_head("API", *(client.version for client in versions)))
        for api in sorted({api for client in versions for api in client.apis}):
            cells = [", ".join(map(str, client.apis.get(api, ()))) for client in versions]
            texts.append(f"| {' | '.join([api, *cells])} |\n")
    return texts


_PAGE_END = """
`python -m tests.atlas NAME ...` (all programs without NAME; Java 17, Maven) runs programs again.
`kafka-shim least-acls -- COMMAND` finds the ACLs of your own program in the same way.
"""


def _acl_in_words(acl: dict[str, str]) -> str:
    operation = "".join(word.capitalize() for word in acl["operation"].split("_"))
    kind = acl["resource_type"].lower().replace("_", " ")
    prefix = "prefix " if acl["resource_pattern_type"] == "PREFIXED" else ""
    name = "" if kind == "cluster" else f" {prefix}`{acl['resource_name']}`"
    return f"{operation} on {kind}{name}"


if __name__ == "__main__":
    write_atlas(read_entries())
