"""The authorizer log of one real broker, in the layouts that people give their logs.

`python -m tests.recordings.audit.layouts` starts Kafka 4.4.0 with a log file per layout and keeps
the lines about alice in recorded_layouts/.
"""

import json
from pathlib import Path
from types import MappingProxyType
from xml.sax.saxutils import quoteattr

from tests.oracle.real_kafka import RealKafka, fetched
from tests.recordings.audit.recording import play

RELEASE = "4.4.0"
RECORDED = Path(__file__).parent / "recorded_layouts"
PATTERNS = MappingProxyType(
    {
        "kafka": "[%d] %p %m (%c)%n",
        "strimzi": "%d{ISO8601} %p %m (%c) [%t]%n",
        "logger-first": "%d{yyyy-MM-dd HH:mm:ss} %-5p %c{1}:%L - %m%n",
        "thread-first": f"%d{{yyyy-MM-dd'T'HH:mm:ss.SSS{3 * 'X'}}} [%t] %-5p %c{{36}} - %m%n",
        "date": "%d{DATE} %p [%t] %c - %m%n",
        "unix-millis": "%d{UNIX_MILLIS} %p %m (%c)%n",
        "unix": "%d{UNIX} %p %m%n",
        "compact": "%d{COMPACT} %p %m (%c)%n",
        "basic": "%d{ISO8601_BASIC} %p %m (%c)%n",
        "zone-name": "%d{yyyy-MM-dd HH:mm:ss,SSS z}{Europe/Berlin} %p %m (%c)%n",
        "no-date": "%d{ABSOLUTE} %p %m (%c)%n",
        "no-time": "%p %m (%c)%n",
    }
)
JSON_LAYOUTS = MappingProxyType(
    {
        "log4j2-compact": '<JsonLayout compact="true" eventEol="true"/>',
        "log4j2-lines": "<JsonLayout/>",
        "log4j2-complete": '<JsonLayout complete="true"/>',
        **{
            name: f'<JsonTemplateLayout eventTemplateUri="classpath:{file}.json"/>'
            for name, file in (
                ("ecs", "EcsLayout"),
                ("gelf", "GelfLayout"),
                ("logstash", "LogstashJsonEventLayoutV1"),
                ("gcp", "GcpLayout"),
            )
        },
    }
)
_VERSION = "2.25.3"
_LOG4J = (
    *(
        ("org.apache.logging.log4j", name, _VERSION)
        for name in ("log4j-core", "log4j-slf4j-impl", "log4j-layout-template-json")
    ),
    ("com.fasterxml.jackson.core", "jackson-databind", "2.17.2"),
)
_REPLACED = ("slf4j-", "log4j-", "logback-", "jackson-core", "jackson-databind", "jackson-annot")


class KafkaWithLayouts(RealKafka):
    """A real broker whose authorizer writes a file per layout."""

    configuration = ""
    """The configuration of Log4j, by default all layouts."""

    def _java(self, libs: Path, main: str, argument: str, *options: str) -> None:
        (self.folder / "log4j2.xml").write_text(self.configuration or _configuration())
        own = self.folder / "libs"
        own.mkdir(exist_ok=True)
        kept = [jar for jar in libs.iterdir() if not jar.name.startswith(_REPLACED)]
        for jar in (*kept, *fetched(f"log4j-{_VERSION}", _LOG4J).iterdir()):
            if not (own / jar.name).exists():
                (own / jar.name).symlink_to(jar)
        super()._java(own, main, argument, *options, "-Dlog4j2.configurationFile=log4j2.xml")


def _configuration() -> str:
    layouts = {
        **{name: f"<PatternLayout pattern={quoteattr(text)}/>" for name, text in PATTERNS.items()},
        **JSON_LAYOUTS,
    }
    files = [
        f'<File name="{name}" fileName="layout-{name}.log">{layout}</File>'
        for name, layout in layouts.items()
    ]
    references = "".join(f'<AppenderRef ref="{name}"/>' for name in layouts)
    return (
        f"<Configuration><Appenders>{''.join(files)}</Appenders><Loggers>"
        f'<Logger name="kafka.authorizer.logger" level="TRACE">{references}</Logger>'
        '<Root level="OFF"/></Loggers></Configuration>'
    )


def _about_alice(name: str, text: str) -> str:
    if not name.startswith("log4j2-") or name == "log4j2-compact":
        return "".join(line for line in text.splitlines(True) if "Principal = User:alice" in line)
    decode, objects, end = json.JSONDecoder().raw_decode, list[str](), 0
    while (start := text.find("{", end)) >= 0:
        before, (_, end) = end, decode(text, start)
        if "Principal = User:alice" in text[start:end]:
            objects.append(text[before:end])
    return "".join(objects).lstrip(",\r\n") + "\n"


def record() -> None:
    """Start the broker, let alice be allowed and denied, and keep the logs."""
    RECORDED.mkdir(exist_ok=True)
    with KafkaWithLayouts(RELEASE) as kafka:
        play(kafka)
        logs = {path.stem: path.read_text() for path in kafka.folder.glob("layout-*.log")}
    for stem, text in logs.items():
        name = stem.removeprefix("layout-")
        (RECORDED / f"{name}.txt").write_text(_about_alice(name, text))


if __name__ == "__main__":
    record()
