"""The options of a broker, each declared once, with the places where it can be set.

`OPTIONS` makes the command line, configuration files, `KAFKA_SHIM_*` variables, the keywords of the
pytest fixture, the body of `POST /brokers`, the types for TypeScript, and the reference pages.

To add an option, add a row, and read the value where it has an effect. `Config.properties` has the
value by the name in `setting`, or else the row names a field of Config. Then write the generated
files, with the commands in CONTRIBUTING.md's table.
"""

import enum
from collections.abc import Iterator
from typing import Final, NamedTuple

VARIABLE_PREFIX: Final = "KAFKA_SHIM_"
SHIM_SETTING_PREFIX: Final = "shim."
TLS_DIRECTORY: Final = "shim.tls.directory"
NODES_MAX: Final = 100
"""The most brokers of a cluster that the control API creates."""


class Kind(enum.Enum):
    """What a value is. Each place writes it in its own way."""

    TEXT = enum.auto()
    INTEGER = enum.auto()
    NUMBER = enum.auto()
    FLAG = enum.auto()
    FILE = enum.auto()  # a file or a folder, as text
    PATH = enum.auto()  # a file or a folder, as a Path
    FLAG_OR_FILE = enum.auto()
    TEXTS = enum.auto()
    PAIRS = enum.auto()  # texts by name
    TOPICS = enum.auto()  # names, or partitions by name
    ACLS = enum.auto()  # rules, or a file with them
    OBJECTS = enum.auto()  # a list of objects, as in a state file
    OBJECT = enum.auto()  # objects by name, as in a state file

    @property
    def is_repeatable(self) -> bool:
        """Return whether the command line takes the option several times."""
        return self in (Kind.TEXTS, Kind.PAIRS, Kind.TOPICS)


class Place(enum.Flag):
    """Where an option can be set."""

    COMMAND_LINE = enum.auto()
    FILE = enum.auto()
    VARIABLE = enum.auto()
    KEYWORD = enum.auto()
    BODY = enum.auto()


COMMAND: Final = Place.COMMAND_LINE | Place.FILE
USUAL: Final = COMMAND | Place.KEYWORD | Place.BODY
EVERYWHERE: Final = USUAL | Place.VARIABLE

FILES: Final = "Files"
LISTENERS: Final = "Listeners"
PERMISSIONS: Final = "Users and permissions"
CLUSTER: Final = "Cluster"
LOG: Final = "Log"
TRACE: Final = "Trace"
PLAYBACK: Final = "Playback"
CONTROL: Final = "Control"
SERVE: Final = ""
"""Options of `serve` alone, without a heading."""
BROKER_GROUPS: Final = (FILES, LISTENERS, PERMISSIONS, CLUSTER, LOG)
"""Headings of the options of every command that starts a broker, in the order of its help."""

_SEE_PLAYBACK: Final = "see `playback`"


class BrokerOption(NamedTuple):
    """An option of a broker: a row of the table."""

    name: str
    """On the command line with dashes; in a variable in capitals."""
    kind: Kind
    group: str
    """The heading in the help of commands, which also decides which commands have it; a keyword
    needs a group that all brokers have.
    """
    help: str
    places: Place = USUAL
    plural: str = ""
    """The name where all values of a repeatable option are given together."""
    value_help: str = ""
    """The help for keywords and the body, where that of the command line does not fit."""
    variable_help: str = ""
    """The value of the variable, as the page about variables describes it."""
    metavar: str | None = None
    short: str = ""
    choices: tuple[str, ...] | None = None
    optional_value: str | None = None
    """The value of an option that is written without one."""
    separator: str = ""
    """Between the two parts of a value; a file can have a mapping instead."""
    expected: str = ""
    """The form of a value, for errors."""
    is_secret: bool = False
    """Errors do not repeat the value."""
    setting: str = ""
    """The setting of Kafka, or of the shim (`shim.`), that means the same."""
    field: str = ""
    """The field of Config; without one, the value is in `Config.properties`."""
    default: object = None
    """What the body has without this key."""
    minimum: int | None = None
    maximum: int | None = None
    """Limits in the body."""
    pattern: str = ""
    """What a text in the body matches."""
    is_for_playback: bool = False
    """Whether it can be combined with `--playback`, which has no state."""
    why_no_keyword: str = ""
    """What tests use instead of an option of `serve`."""

    @property
    def key(self) -> str:
        """The name of the keyword, and in the body."""
        return self.plural or self.name

    @property
    def option(self) -> str:
        """The name on the command line."""
        return f"--{self.name.replace('_', '-')}"

    @property
    def variable(self) -> str:
        """The name of the variable."""
        return f"{VARIABLE_PREFIX}{self.key.upper()}"

    @property
    def has_kafka_setting(self) -> bool:
        """Return whether variables and files of Kafka can set it, too."""
        return bool(self.setting) and not self.setting.startswith(SHIM_SETTING_PREFIX)

    @property
    def text_for_value(self) -> str:
        """The help for keywords and the body."""
        return self.value_help or self.help.removesuffix(" (repeatable)")


# fmt: off
OPTIONS: list[BrokerOption] = [
    BrokerOption(
        "id", Kind.TEXT, CLUSTER,
        "Name of the cluster in paths, such as /brokers/{id} (default: b1, b2 and so on)",
        places=Place.BODY, pattern="^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$",
    ),
    BrokerOption(
        "kafka_version", Kind.TEXT, CLUSTER,
        "Kafka release to emulate, from 0.11 to the newest (default)",
        places=EVERYWHERE, variable_help="`3.9`: Kafka release to emulate",
        metavar="RELEASE", field="release",
    ),
    BrokerOption(
        "topic", Kind.TOPICS, CLUSTER,
        "Create this topic at startup, unless it exists; without PARTITIONS, it has num.partitions"
        " (1) of them (repeatable)",
        places=EVERYWHERE, plural="topics",
        value_help='Names of topics, or partitions by name, or by name `{"partitions": 3,'
        ' "configs": {...}}`',
        variable_help="`orders:3,payments`: topics, with their partitions",
        metavar="NAME[:PARTITIONS]", separator=":",
    ),
    BrokerOption(
        "brokers", Kind.INTEGER, CLUSTER, "Number of brokers (default: 1)",
        metavar="N", field="brokers", default=1, minimum=1, maximum=NODES_MAX,
    ),
    BrokerOption(
        "first_broker_id", Kind.INTEGER, CLUSTER,
        "Id of the first broker; further brokers have the next ids (default: node.id, else 1)",
        metavar="N", setting="node.id", field="first_broker_id",
    ),
    BrokerOption(
        "rack", Kind.TEXTS, CLUSTER,
        "One rack for each broker, or one rack for all brokers (repeatable)",
        plural="racks", metavar="RACK[,RACK]", setting="broker.rack", field="racks", default=[],
    ),
    BrokerOption(
        "client_telemetry", Kind.FLAG, CLUSTER, "Accept client metrics (KIP-714)",
        setting="shim.client.telemetry",
    ),
    BrokerOption(
        "seed", Kind.INTEGER, CLUSTER,
        "Seed of the random numbers: generated ids are the same in each run",
        metavar="N", field="seed",
    ),
    BrokerOption(
        "broker_config", Kind.PAIRS, CLUSTER,
        "Kafka broker setting, such as num.partitions=3 (repeatable)",
        plural="properties", value_help="Broker settings by Kafka's names", metavar="KEY=VALUE",
        short="-c", separator="=", expected="KEY=VALUE, as in num.partitions=3",
        is_for_playback=True,
    ),
    BrokerOption(
        "authorizer", Kind.TEXT, PERMISSIONS,
        "Authorizer. standard: ACLs decide, as in Kafka (default). none: everything is"
        " allowed. MODULE:CLASS: your own class decides",
        metavar="standard|none|MODULE:CLASS", setting="authorizer.class.name", field="authorizer",
    ),
    BrokerOption(
        "super_user", Kind.TEXTS, PERMISSIONS,
        "Principal that is allowed everything, regardless of ACLs (repeatable). Default:"
        " User:ANONYMOUS and User:admin. There is no default with --authorizer, with"
        " --allow-everyone-if-no-acl-found, with both --listener and ACLs, or without a"
        " PLAINTEXT listener",
        plural="super_users",
        value_help="Principals that are allowed everything, regardless of ACLs", metavar="User:x",
        setting="super.users", field="super_users",
    ),
    BrokerOption(
        "allow_everyone_if_no_acl_found", Kind.FLAG, PERMISSIONS,
        "Allow everybody to use resources without any ACL",
        setting="allow.everyone.if.no.acl.found", field="allow_everyone_if_no_acl_found",
    ),
    BrokerOption(
        "user", Kind.PAIRS, PERMISSIONS,
        "Add a user who can authenticate with any enabled SASL mechanism (repeatable)",
        places=EVERYWHERE, plural="users",
        value_help="Passwords by name of users, who can authenticate with any enabled SASL"
        " mechanism",
        variable_help="`alice:secret,bob:secret`; or one user per line, for passwords with a"
        " comma",
        metavar="NAME:PASSWORD", separator=":", expected="NAME:PASSWORD, as in alice:secret",
        is_secret=True, setting="sasl.jaas.config", field="users", is_for_playback=True,
    ),
    BrokerOption(
        "acls", Kind.ACLS, PERMISSIONS,
        "File with the initial ACLs, in any format of `acls --format`",
        places=EVERYWHERE, value_help="Initial ACLs, as in a state file",
        variable_help="the content of a file of ACLs, in any of [these"
        " formats](../guides/acl-formats.md)",
        metavar="FILE",
    ),
    BrokerOption(
        "acl_propagation_delay", Kind.INTEGER, PERMISSIONS,
        "Apply ACL changes on each broker after a random delay of up to MS milliseconds",
        value_help="Apply ACL changes on each broker after a random delay of up to this number"
        " of milliseconds",
        metavar="MS", setting="shim.acl.propagation.delay.ms", minimum=0,
    ),
    BrokerOption(
        "listener", Kind.TEXTS, LISTENERS,
        "Address to listen on; port 0 is any free port (repeatable). Further brokers have the"
        " next ports, or the ports of a list: HOST:19092,29092,39092. NAME is PLAINTEXT,"
        " SASL_PLAINTEXT, SSL, SASL_SSL, or another name with -c"
        " listener.security.protocol.map=NAME:PROTOCOL. Default: PLAINTEXT, without"
        " authentication and with everything allowed, and SASL_PLAINTEXT, where users"
        " authenticate and ACLs apply",
        plural="listeners",
        value_help="Addresses to listen on, as NAME://HOST:PORT; port 0 is any free port."
        " Default: PLAINTEXT, without authentication, and SASL_PLAINTEXT, where users"
        " authenticate",
        metavar="NAME://HOST:PORT", setting="listeners", field="listeners", is_for_playback=True,
    ),
    BrokerOption(
        "port", Kind.INTEGER, LISTENERS,
        "Port of the first default listener; further listeners have the next ports. Not with"
        " --listener, which has its own",
        places=COMMAND, metavar="N", is_for_playback=True,
        why_no_keyword="brokers of tests use free ports; for others use `listeners`",
    ),
    BrokerOption(
        "listener_principal", Kind.PAIRS, LISTENERS,
        "Principal of unauthenticated clients of the listener NAME (default: User:ANONYMOUS)",
        plural="listener_principals",
        value_help="Principals of unauthenticated clients, by name of the listener",
        metavar="NAME=User:x", separator="=",
        expected="NAME=Type:name, as in PLAINTEXT=User:alice", is_for_playback=True,
    ),
    BrokerOption(
        "tls", Kind.FLAG_OR_FILE, LISTENERS,
        "Open the listeners SSL and SASL_SSL, too, with self-made certificates: in a folder of"
        " the broker's, or in this one",
        places=Place.KEYWORD,
    ),
    BrokerOption(
        "tls_dir", Kind.FILE, LISTENERS,
        "Generate certificates for TLS listeners in this folder, with ca.pem and client.pem"
        " (CN=client) for clients",
        places=COMMAND | Place.KEYWORD, metavar="DIR", setting=TLS_DIRECTORY, is_for_playback=True,
    ),
    BrokerOption(
        "config", Kind.FILE, FILES,
        "File with options by name (.yaml, .toml), or a server.properties file. Environment"
        " variables (KAFKA_*, as in the container images) and options take precedence",
        places=Place.COMMAND_LINE | Place.KEYWORD,
        value_help="File with options by name (.yaml, .toml), or a server.properties file;"
        " keywords take precedence",
        metavar="FILE", is_for_playback=True,
    ),
    BrokerOption(
        "state", Kind.FILE, FILES,
        "YAML file with the initial topics, users, super_users, acls, groups, client_metrics"
        " and faults",
        places=COMMAND | Place.KEYWORD | Place.VARIABLE,
        variable_help="the content of a [state file](../guides/configuration.md#initial-state)",
        metavar="FILE",
    ),
    BrokerOption(
        "data_dir", Kind.FILE, FILES,
        "Keep topics, records, groups, ACLs, users and settings in this folder across restarts"
        " (default: in memory; not on Windows)",
        places=COMMAND | Place.KEYWORD, metavar="DIR", field="data_dir",
    ),
    BrokerOption(
        "log_format", Kind.TEXT, LOG, "Format of log lines (default: console)",
        places=COMMAND | Place.KEYWORD, choices=("console", "json"), field="log_format",
        is_for_playback=True,
    ),
    BrokerOption(
        "log_level", Kind.TEXT, LOG, "Least severe level to log (default: info)",
        places=COMMAND | Place.KEYWORD, value_help="Least severe level to log (default: warn)",
        short="-l", choices=("none", "error", "warn", "info", "debug"), field="log_level",
        is_for_playback=True,
    ),
    BrokerOption(
        "ready_file", Kind.FILE, SERVE,
        "Write this file, one NAME=HOST:PORT a line, once the broker responds, and remove it"
        f" when the broker stops (default: ${VARIABLE_PREFIX}READY_FILE)",
        places=COMMAND | Place.VARIABLE,
        variable_help="file that exists while the broker responds", metavar="PATH",
        is_for_playback=True, why_no_keyword="the broker is ready when `start` returns",
    ),
    BrokerOption(
        "record", Kind.PATH, TRACE,
        "Record all requests and responses as a trace in this folder; an existing trace is"
        " continued",
        places=COMMAND | Place.KEYWORD, metavar="DIR",
    ),
    BrokerOption(
        "record_compression", Kind.TEXT, TRACE,
        "Compression of the trace (default: none); zstd needs the extra `compression`",
        places=COMMAND | Place.KEYWORD, choices=("none", "zlib", "zstd"),
    ),
    BrokerOption(
        "record_keep", Kind.INTEGER, TRACE,
        "Keep the N newest segments of the trace, 64 MiB each (default: all)",
        places=COMMAND | Place.KEYWORD,
        value_help="Number of the newest segments of the trace to keep, 64 MiB each (default:"
        " all)",
        metavar="N",
    ),
    BrokerOption(
        "playback", Kind.PATH, PLAYBACK,
        "Respond from this trace instead of a broker: each request gets its recorded response;"
        " exit code 3 if a request was not recorded",
        places=COMMAND, metavar="TRACE", is_for_playback=True,
        why_no_keyword="play a trace back with `kafka-shim run --playback TRACE -- pytest`",
    ),
    BrokerOption(
        "match", Kind.TEXT, PLAYBACK,
        "order: changes and records in their recorded order (default). content: in any order."
        " strict: as order, with the recorded settings, and with all recorded changes",
        places=COMMAND, choices=("order", "content", "strict"), is_for_playback=True,
        why_no_keyword=_SEE_PLAYBACK,
    ),
    BrokerOption(
        "accept_damage", Kind.FLAG, PLAYBACK,
        "Play a damaged file without what cannot be read (default: exit with 3 at the end)",
        places=COMMAND, is_for_playback=True, why_no_keyword=_SEE_PLAYBACK,
    ),
    BrokerOption(
        "on_mismatch", Kind.TEXT, PLAYBACK,
        "Respond to a request that was not recorded with this error (default:"
        " INVALID_REQUEST), or close the connection",
        places=COMMAND, metavar="ERROR|close", is_for_playback=True, why_no_keyword=_SEE_PLAYBACK,
    ),
    BrokerOption(
        "speed", Kind.NUMBER, PLAYBACK,
        "Respond after the recorded time divided by X (default: without delay)",
        places=COMMAND, metavar="X", is_for_playback=True, why_no_keyword=_SEE_PLAYBACK,
    ),
    BrokerOption(
        "playback_report", Kind.PATH, PLAYBACK,
        "Write the report of the playback to this file: a page if the name ends in .html, else"
        " JSON",
        places=COMMAND, metavar="FILE", is_for_playback=True, why_no_keyword=_SEE_PLAYBACK,
    ),
    BrokerOption(
        "playback_mode", Kind.TEXT, PLAYBACK,
        "none: use the trace (default). once: use the trace, or record it from --upstream if"
        " it is missing. new-episodes: use the trace, and record missing requests. all: record"
        " the trace again",
        places=COMMAND, choices=("none", "once", "new-episodes", "all"), is_for_playback=True,
        why_no_keyword=_SEE_PLAYBACK,
    ),
    BrokerOption(
        "upstream", Kind.TEXTS, PLAYBACK,
        "Broker of the cluster to record, for all listeners or for one (repeatable)",
        places=COMMAND, metavar="[LISTENER=]HOST:PORT", is_for_playback=True,
        why_no_keyword=_SEE_PLAYBACK,
    ),
    BrokerOption(
        "upstream_config", Kind.FILE, PLAYBACK,
        "Client properties for connections to the cluster; with sasl.*, the recorded clients"
        " need no authentication",
        places=COMMAND, metavar="FILE", is_for_playback=True, why_no_keyword=_SEE_PLAYBACK,
    ),
    BrokerOption(
        "mask", Kind.TEXTS, PLAYBACK,
        "Record records without this part: value, key or headers; value:customer.name is a"
        " field of JSON values (repeatable)",
        places=COMMAND, metavar="[TOPIC:]PART[:PATH]", is_for_playback=True,
        why_no_keyword=_SEE_PLAYBACK,
    ),
    BrokerOption(
        "conformance", Kind.TEXT, SERVE,
        "When the broker stops, print a scorecard of all clients, or write it to a file: text"
        " (default), json, junit or markdown; exit code 3 if a behaviour failed",
        places=COMMAND, metavar="FORM[:FILE]", optional_value="text",
        why_no_keyword="record a trace and pass it to `kafka-shim conformance check`",
    ),
    BrokerOption(
        "control", Kind.TEXT, CONTROL,
        "Serve the control API (HTTP, see /openapi.json) and the inspector (a web page) here",
        places=COMMAND | Place.VARIABLE,
        variable_help="`0.0.0.0:8082`: address of the [HTTP API](http-api.md)",
        metavar="HOST:PORT", is_for_playback=True,
        why_no_keyword="a broker in its own process has a control API; its address is"
        " `control_url`",
    ),
    BrokerOption(
        "control_token", Kind.TEXT, CONTROL,
        "Bearer token of the control API; required unless it listens on loopback",
        places=COMMAND | Place.VARIABLE, variable_help="bearer token of the HTTP API",
        metavar="TOKEN", why_no_keyword="the control API listens on loopback only",
    ),
    BrokerOption(
        "manual_clock", Kind.FLAG, CONTROL, "Freeze the clock; only POST /clock/advance moves it",
    ),
    BrokerOption(
        "stop_with_stdin", Kind.FLAG, SERVE,
        "Stop when standard input ends, for brokers started by another program",
        places=COMMAND, is_for_playback=True,
        why_no_keyword="the broker always stops with the process that started it",
    ),
    BrokerOption(
        "in_process", Kind.FLAG, CLUSTER, "Run the broker on a thread of this process",
        places=Place.KEYWORD,
    ),
    BrokerOption(
        "startup_timeout", Kind.NUMBER, CLUSTER,
        "Seconds after which a broker in its own process must be ready (default: 30)",
        places=Place.KEYWORD,
    ),
    BrokerOption(
        "groups", Kind.OBJECT, CLUSTER,
        "Committed offsets by group, topic and partition, as in a state file",
        places=Place.BODY,
    ),
    BrokerOption(
        "client_metrics", Kind.OBJECT, CLUSTER,
        "Settings of subscriptions of client metrics by name, as in a state file",
        places=Place.BODY,
    ),
    BrokerOption(
        "faults", Kind.OBJECTS, CLUSTER, "Faults from the start, as in a state file",
        places=Place.BODY,
    ),
]
# fmt: on


def options_of_place(place: Place) -> Iterator[BrokerOption]:
    """Yield the options that can be set in a place."""
    return (option for option in OPTIONS if place in option.places)


def option_named(name: str) -> BrokerOption:
    """Return the option with a name of the command line."""
    return next(option for option in OPTIONS if option.name == name)
