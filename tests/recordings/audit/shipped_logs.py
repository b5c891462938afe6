"""The authorizer log of a real broker, as log shippers and log services keep it.

`python -m tests.recordings.audit.shipped_logs` writes shipped_logs/ from Kafka's own layout in
recorded_layouts/. rsyslog, syslog-ng, journald and OpenTelemetry's exporter write their files
themselves. The other formats are those that their projects document. The shippers' clocks are an
hour behind the broker's, so a test sees which time was read.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from tests.atlas.built_folders import FOLDERS
from tests.recordings.audit.layouts import RECORDED

SHIPPED = Path(__file__).parent / "shipped_logs"
BEHIND = timedelta(hours=1)
"""How far the shippers' clocks are behind the broker's."""
_POD = "kafka-0"
_OTLP_VERSION = "1.45.2"
_WRITING_SECONDS = 20


class Line(NamedTuple):
    """A line of the broker and the shipper's time."""

    text: str
    time: datetime

    @property
    def iso(self) -> str:
        return self.time.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    @property
    def nanoseconds(self) -> int:
        return round(self.time.timestamp() * 1_000) * 1_000_000


def lines_of_broker() -> list[Line]:
    """Return the lines in Kafka's layout, each with a time that is `BEHIND` its own."""
    lines = (RECORDED / "kafka.txt").read_text().splitlines()
    times = (datetime.strptime(f"{line[1:24]}Z", "%Y-%m-%d %H:%M:%S,%f%z") for line in lines)
    return [Line(line, at - BEHIND) for line, at in zip(lines, times, strict=True)]


def _rows(row: Callable[[Line], Any]) -> Callable[[list[Line]], str]:
    """Return a writer of one line of text or JSON for each line."""

    def write(lines: list[Line]) -> str:
        rows = (row(line) for line in lines)
        return "".join(f"{each if isinstance(each, str) else _compact(each)}\n" for each in rows)

    return write


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _csv(header: str, row: Callable[[Line], tuple[str, ...]]) -> Callable[[list[Line]], str]:
    return lambda lines: (
        f"{header}\n" + _rows(lambda line: ",".join(map(_quoted, row(line))))(lines)
    )


def _quoted(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def _cri(line: Line) -> str:
    """Return a line in two parts, as containerd and CRI-O write long ones."""
    at = line.time.isoformat(timespec="microseconds").replace("+00:00", "000Z")
    return f"{at} stdout P {line.text[:60]}\n{at} stdout F {line.text[60:]}"


def _azure_tables(lines: list[Line]) -> str:
    columns = [
        {"name": name, "type": kind}
        for name, kind in (
            ("TimeGenerated", "datetime"),
            ("PodName", "string"),
            ("LogMessage", "dynamic"),
        )
    ]
    rows = [[line.iso, _POD, line.text] for line in lines]
    return json.dumps({"tables": [{"name": "PrimaryResult", "columns": columns, "rows": rows}]})


def _azure_row(line: Line) -> dict[str, Any]:
    return {
        "ContainerName": "kafka",
        "LogMessage": line.text,
        "LogSource": "stdout",
        "PodName": _POD,
        "TableName": "PrimaryResult",
        "TimeGenerated": line.iso,
    }


def _google(line: Line) -> dict[str, Any]:
    return {
        "insertId": "1",
        "labels": {"k8s-pod/strimzi_io/cluster": "kafka"},
        "logName": "projects/p/logs/stdout",
        "receiveTimestamp": "2027-01-01T00:00:00.5Z",
        "resource": {"labels": {"pod_name": _POD}, "type": "k8s_container"},
        "severity": "INFO",
        "textPayload": line.text,
        "timestamp": line.iso,
    }


def _datadog(lines: list[Line]) -> str:
    events = [
        {
            "id": f"AwAAA{number}",
            "type": "log",
            "attributes": {
                "status": "info",
                "service": "kafka",
                "timestamp": line.iso,
                "host": _POD,
                "message": line.text,
                "tags": ["env:test"],
            },
        }
        for number, line in enumerate(lines)
    ]
    return _compact({"data": events, "meta": {"page": {"after": "eyJh"}, "status": "done"}})


def _splunk(line: Line) -> dict[str, Any]:
    at = line.time.isoformat(timespec="milliseconds")
    result = {"_raw": line.text, "_time": at, "host": _POD, "sourcetype": "kafka"}
    return {"preview": False, "offset": 0, "result": result}


def _fluentd(line: Line) -> str:
    record = {"stream": "stdout", "log": line.text, "kubernetes": {"pod_name": _POD}}
    return f"{line.time:%Y-%m-%dT%H:%M:%S+00:00}\tkubernetes.kafka\t{_compact(record)}"


def _fluent_bit_plain(lines: list[Line]) -> str:
    rows = (
        f"[{number}] kube.kafka: [[{line.time.timestamp():.9f}, {{}}], "
        f'{{"log"=>"{line.text}", "stream"=>"stdout"}}]\n'
        for number, line in enumerate(lines)
    )
    return "".join(rows)


def _cloudwatch(lines: list[Line]) -> str:
    events = [
        {"id": str(number), "timestamp": line.nanoseconds // 1_000_000, "message": line.text}
        for number, line in enumerate(lines)
    ]
    return _compact({"messageType": "DATA_MESSAGE", "logGroup": "kafka", "logEvents": events})


def _elasticsearch_row(line: Line) -> dict[str, Any]:
    source = {"@timestamp": line.iso, "message": line.text, "agent": {"type": "filebeat"}}
    return {"_index": "logs", "_id": "1", "_score": 1, "_source": source}


def _filebeat(line: Line) -> dict[str, Any]:
    event = {"original": line.text}
    return {"@timestamp": line.iso, "message": line.text, "event": event, "host": {"name": _POD}}


def _loki(lines: list[Line]) -> str:
    values = [[str(line.nanoseconds), line.text] for line in lines]
    streams = [{"stream": {"pod": _POD}, "values": values}]
    return _compact({"status": "success", "data": {"resultType": "streams", "result": streams}})


def _stern_json(line: Line) -> dict[str, Any]:
    pod = {"nodeName": "n", "namespace": "kafka", "podName": _POD, "containerName": "kafka"}
    return {"message": line.text, **pod}


_DOCUMENTED = {
    "aws-cloudwatch": _cloudwatch,
    "azure-query": lambda lines: json.dumps([_azure_row(line) for line in lines], indent=2) + "\n",
    "azure-tables": _azure_tables,
    "cri": _rows(_cri),
    "datadog": _datadog,
    "datadog-csv": _csv(
        "Date,Host,Service,Message", lambda line: (line.iso, _POD, "kafka", line.text)
    ),
    "docker-compose": _rows(lambda line: f"kafka-1  | {line.text}"),
    "docker-compose-times": _rows(lambda line: f"kafka-1  | {line.iso} {line.text}"),
    "docker-json-file": _rows(
        lambda line: {"log": f"{line.text}\n", "stream": "stdout", "time": line.iso}
    ),
    "elasticsearch": lambda lines: (
        json.dumps(
            {"took": 1, "hits": {"hits": [_elasticsearch_row(line) for line in lines]}}, indent=2
        )
        + "\n"
    ),
    "elasticsearch-lines": _rows(_elasticsearch_row),
    "filebeat": _rows(_filebeat),
    "fluent-bit": _rows(
        lambda line: {"date": line.time.timestamp(), "log": line.text, "stream": "stdout"}
    ),
    "fluent-bit-plain": _fluent_bit_plain,
    "fluentd": _rows(_fluentd),
    "gcloud": lambda lines: json.dumps([_google(line) for line in lines], indent=2) + "\n",
    "kubectl": _rows(lambda line: f"[pod/{_POD}/kafka] {line.iso} {line.text}"),
    "logcli": _rows(lambda line: f'{line.iso} {{pod="{_POD}"}} {line.text}'),
    "logcli-jsonl": _rows(
        lambda line: {"labels": {"pod": _POD}, "line": line.text, "timestamp": line.iso}
    ),
    "loki": _loki,
    "splunk-csv": _csv(
        '"_raw","_time",host', lambda line: (line.text, line.time.isoformat(), _POD)
    ),
    "splunk-json": _rows(_splunk),
    "splunk-raw": _rows(lambda line: line.text),
    "stern": _rows(lambda line: f"{_POD} kafka {line.text}"),
    "stern-json": _rows(_stern_json),
    "vector": _rows(
        lambda line: {
            "file": "/var/log/kafka-authorizer.log",
            "host": _POD,
            "message": line.text,
            "source_type": "file",
            "timestamp": line.iso,
        }
    ),
}
_JOURNALCTL = {
    "journald-json": "json",
    "journald-json-pretty": "json-pretty",
    "journald-export": "export",
    "journald-short": "short",
    "journald-short-iso": "short-iso",
    "journald-short-full": "short-full",
    "journald-short-unix": "short-unix",
}


def _journal_entry(number: int, line: Line) -> str:
    fields = {
        "__CURSOR": f"i={number}",
        "__REALTIME_TIMESTAMP": line.nanoseconds // 1_000,
        "__MONOTONIC_TIMESTAMP": 1_000 + number,
        "_BOOT_ID": "6c7c6013a26343b29e964691ff25d04c",
        "PRIORITY": 6,
        "SYSLOG_IDENTIFIER": "kafka",
        "_PID": 1,
        "_HOSTNAME": _POD,
        "MESSAGE": line.text,
    }
    return "".join(f"{name}={value}\n" for name, value in fields.items()) + "\n"


def _by_journald(lines: list[Line], folder: Path) -> dict[str, str]:
    """Return what journalctl prints of the lines in each of its formats."""
    entries, journal = folder / "entries", folder / "kafka.journal"
    entries.write_text(
        "".join(_journal_entry(number, line) for number, line in enumerate(lines, 1))
    )
    writer = ["/lib/systemd/systemd-journal-remote", "-o", str(journal), str(entries)]
    subprocess.run(writer, check=True, capture_output=True)
    printed = {}
    for name, form in _JOURNALCTL.items():
        reader = ["journalctl", "--file", str(journal), "--quiet", "--no-pager", "-o", form]
        printed[name] = subprocess.run(
            reader, check=True, capture_output=True, text=True, env=os.environ | {"TZ": "UTC"}
        ).stdout
    return printed


_RSYSLOG_FILES = {
    "rsyslog-traditional": "RSYSLOG_TraditionalFileFormat",
    "rsyslog-file": "RSYSLOG_FileFormat",
    "rsyslog-5424": "RSYSLOG_SyslogProtocol23Format",
    "rsyslog-json": "jsonl",
}
_RSYSLOG = """global(workDirectory="{folder}" net.enableDNS="off")
module(load="imptcp")
input(type="imptcp" path="{folder}/socket")
template(name="jsonl" type="list" option.jsonf="on") {{
  property(outname="@timestamp" name="timereported" dateFormat="rfc3339" format="jsonf")
  property(outname="host" name="hostname" format="jsonf")
  property(outname="message" name="msg" format="jsonf")
}}
"""
_SYSLOG_NG_FILES = {
    "syslog-ng-file": "",
    "syslog-ng-iso": 'template("${ISODATE} ${HOST} ${MSGHDR}${MSG}\\n")',
    "syslog-ng-5424": "flags(syslog-protocol)",
    "syslog-ng-json": 'template("$(format-json --scope rfc5424 --key ISODATE)\\n")',
}
_SYSLOG_NG = """@version: 3.38
options {{ keep-hostname(yes); ts-format(rfc3164); time-zone("UTC"); }};
source s {{ unix-stream("{folder}/socket" flags(syslog-protocol)); }};
"""


def _by_rsyslog(lines: list[Line], folder: Path) -> dict[str, str]:
    actions = (
        f'action(type="omfile" file="{folder}/{name}" template="{form}")\n'
        for name, form in _RSYSLOG_FILES.items()
    )
    (folder / "conf").write_text(_RSYSLOG.format(folder=folder) + "".join(actions))
    modules = "{debian}/usr/lib/x86_64-linux-gnu/rsyslog"
    argv = ["usr/sbin/rsyslogd", "-n", "-i", f"{folder}/pid", "-f", f"{folder}/conf", "-M", modules]
    return _written_by_daemon(argv, lines, folder, _RSYSLOG_FILES)


def _by_syslog_ng(lines: list[Line], folder: Path) -> dict[str, str]:
    destinations = (
        f'log {{ source(s); destination {{ file("{folder}/{name}" {options}); }}; }};\n'
        for name, options in _SYSLOG_NG_FILES.items()
    )
    (folder / "conf").write_text(_SYSLOG_NG.format(folder=folder) + "".join(destinations))
    argv = ["usr/sbin/syslog-ng", "-F", "--no-caps", f"--cfgfile={folder}/conf"]
    argv += [f"--{name}={folder}/{name}" for name in ("persist-file", "pidfile", "control")]
    argv += ["--module-path={debian}/usr/lib/syslog-ng/3.38"]
    return _written_by_daemon(argv, lines, folder, _SYSLOG_NG_FILES)


def _written_by_daemon(
    argv: list[str], lines: list[Line], folder: Path, names: Iterable[str]
) -> dict[str, str]:
    """Return the files that a daemon of syslog writes of the lines, sent to its socket."""
    debian = FOLDERS["debian"]()
    libraries = [debian / path for path in ("lib/x86_64-linux-gnu", "usr/lib/x86_64-linux-gnu")]
    libraries.append(debian / "usr/lib/syslog-ng")
    process = subprocess.Popen(
        [str(debian / argv[0]), *(word.replace("{debian}", str(debian)) for word in argv[1:])],
        env=os.environ | {"LD_LIBRARY_PATH": ":".join(map(str, libraries)), "TZ": "UTC"},
    )
    try:
        _until((folder / "socket").exists)
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(folder / "socket"))
            for line in lines:
                client.sendall(f"<14>1 {line.iso} {_POD} kafka 1 - - {line.text}\n".encode())
        files = {name: folder / name for name in names}
        _until(lambda: all(_line_count(file) == len(lines) for file in files.values()))
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(_WRITING_SECONDS)
    return {name: file.read_text() for name, file in files.items()}


def _line_count(file: Path) -> int:
    return file.read_text().count("\n") if file.exists() else 0


def _until(is_done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _WRITING_SECONDS
    while not is_done():
        if time.monotonic() > deadline:
            raise TimeoutError("the daemon does not write its files")
        time.sleep(0.05)


_OTLP_EXPORTER = """import json, sys
from google.protobuf.json_format import MessageToJson
from opentelemetry.exporter.otlp.proto.common._log_encoder import encode_logs
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry._logs import LogRecord, SeverityNumber
exporter = InMemoryLogRecordExporter()
provider = LoggerProvider(resource=Resource({"service.name": "kafka"}))
provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
logger = provider.get_logger("kafka.authorizer.logger")
for nanoseconds, text in json.load(sys.stdin):
    logger.emit(LogRecord(timestamp=nanoseconds, observed_timestamp=nanoseconds,
        severity_text="INFO", severity_number=SeverityNumber.INFO, body=text))
print(MessageToJson(encode_logs(exporter.get_finished_logs()), indent=None))
"""


def _by_opentelemetry(lines: list[Line], folder: Path) -> dict[str, str]:
    names = ("opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-common")
    packages = [f"{name}=={_OTLP_VERSION}" for name in names]
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder)]
    subprocess.run([*install, *packages], check=True)
    records = json.dumps([(line.nanoseconds, line.text) for line in lines])
    exporter = subprocess.run(
        [sys.executable, "-c", _OTLP_EXPORTER],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        input=records,
        env=os.environ | {"PYTHONPATH": str(folder)},
    )
    return {"opentelemetry": exporter.stdout}


WRITERS = MappingProxyType(
    {
        "journald": _by_journald,
        "rsyslog": _by_rsyslog,
        "syslog-ng": _by_syslog_ng,
        "opentelemetry": _by_opentelemetry,
    }
)
"""Programs that write files themselves."""


def documented_logs(texts: Sequence[str] = ()) -> dict[str, str]:
    """Return the log in the formats that shippers and services document, by name.

    `texts` are the same lines in another layout, or of another release.
    """
    lines = lines_of_broker()
    if texts:
        lines = [line._replace(text=text) for line, text in zip(lines, texts, strict=True)]
    return {name: write(lines) for name, write in _DOCUMENTED.items()}


def record() -> None:
    """Write all files; those of programs need Debian's apt-get, and systemd-journal-remote."""
    SHIPPED.mkdir(exist_ok=True)
    written = documented_logs()
    for write in WRITERS.values():
        with tempfile.TemporaryDirectory() as folder:
            written |= write(lines_of_broker(), Path(folder))
    for name, text in written.items():
        (SHIPPED / f"{name}.txt").write_text(text)


if __name__ == "__main__":
    record()
