"""kcat, log collectors and a metric collector, from Debian's packages."""

from typing import Any

from tests.atlas.program import GROUP, PASSWORD, RECORDS, TOPIC, USER, Program, Step

_LIBRARIES = "{debian}/usr/lib/x86_64-linux-gnu"
_DEBIAN = (
    "env",
    f"LD_LIBRARY_PATH={{debian}}/lib/x86_64-linux-gnu:{_LIBRARIES}:{{debian}}/usr/lib/syslog-ng",
)
LOGIN = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.username": USER,
    "sasl.password": PASSWORD,
}
"""librdkafka's properties with which alice logs in."""
_LINES = {"in.txt": "one\ntwo\n"}
_NO_ERROR = r"\A(?!.*ERROR)"


def _kcat(task: str, words: str, expected: str, does: str, **step: Any) -> Program:
    login = [word for item in LOGIN.items() for word in ("-X", "=".join(item))]
    argv = (*_DEBIAN, "{debian}/usr/bin/kcat", "-b", "{bootstrap}", *login, *words.split())
    return Program(f"kcat-{task}", "1.7.1", does, (Step(argv, expected, **step),))


def _properties(separator: str) -> str:
    return separator.join(f'"{name}={value}"' for name, value in LOGIN.items())


def _rsyslog(task: str, settings: str, does: str, **step: Any) -> Program:
    argv = (*_DEBIAN, "{debian}/usr/sbin/rsyslogd", "-n", "-i", "{folder}/pid")
    words = ("-f", "{folder}/rsyslog.conf", "-M", f"{_LIBRARIES}/rsyslog")
    service = Step((*argv, *words), is_service=True, **step)
    files = _LINES | {"rsyslog.conf": 'global(workDirectory="{folder}")\n' + settings}
    return Program(f"rsyslog-{task}", "8.2302.0", does, (service,), files=files)


NATIVE_PROGRAMS = (
    _kcat(
        "producer",
        f"-P -t {TOPIC}",
        _NO_ERROR,
        "produces lines",
        stdin="one\ntwo\n",
        expected_topic=TOPIC,
        expected_records=RECORDS + 2,
    ),
    _kcat("reader", f"-C -t {TOPIC} -o beginning -e", r"0\s1\s2\s3\s4", "reads a topic"),
    _kcat(
        "consumer",
        f"-G {GROUP} -c {RECORDS - 1} {TOPIC}",
        r"1\s2\s3\s4",
        "consumes records in a group and commits",
    ),
    _kcat("metadata", f"-L -t {TOPIC}", 'topic "orders" with 1 partitions', "shows a topic"),
    _rsyslog(
        "output",
        'module(load="imfile")\nmodule(load="omkafka")\n'
        'input(type="imfile" file="{folder}/in.txt" tag="atlas")\n'
        f'action(type="omkafka" broker=["{{bootstrap}}"] topic="{TOPIC}"'
        f" confParam=[{_properties(', ')}])\n",
        "produces lines of a file (omkafka)",
        expected_topic=TOPIC,
        expected_records=RECORDS + 2,
    ),
    _rsyslog(
        "input",
        'module(load="imkafka")\ntemplate(name="line" type="string" string="record %rawmsg%\\n")\n'
        f'input(type="imkafka" broker=["{{bootstrap}}"] topic="{TOPIC}" consumergroup="{GROUP}"'
        f" confParam=[{_properties(', ')}])\n"
        'action(type="omfile" file="/dev/stdout" template="line")\n',
        "consumes records in a group (imkafka)",
        expected=r"record\s+4",
    ),
    Program(
        "syslog-ng-output",
        "3.38.1",
        "produces lines of a file (kafka-c)",
        (
            Step(
                (
                    *_DEBIAN,
                    "{debian}/usr/sbin/syslog-ng",
                    "-F",
                    "--no-caps",
                    "--cfgfile={folder}/syslog-ng.conf",
                    "--persist-file={folder}/persist",
                    "--pidfile={folder}/pid",
                    "--control={folder}/control",
                    "--module-path={debian}/usr/lib/syslog-ng/3.38",
                ),
                is_service=True,
                expected_topic=TOPIC,
                expected_records=RECORDS + 2,
            ),
        ),
        files=_LINES
        | {
            "syslog-ng.conf": '@version: 3.38\nsource s { file("{folder}/in.txt" follow-freq(1)'
            " flags(no-parse)); };\n"
            'destination d { kafka-c(bootstrap-servers("{bootstrap}")'
            f' topic("{TOPIC}") config('
            + " ".join(f'{name}("{value}")' for name, value in LOGIN.items())
            + ")); };\nlog { source(s); destination(d); };\n"
        },
    ),
    Program(
        "collectd-write-kafka",
        "5.12.0",
        "produces metrics",
        (
            Step(
                (*_DEBIAN, "{debian}/usr/sbin/collectd", "-f", "-C", "{folder}/collectd.conf"),
                is_service=True,
                expected_topic=TOPIC,
                expected_records=RECORDS + 1,
            ),
        ),
        files={
            "collectd.conf": 'BaseDir "{folder}"\nPIDFile "{folder}/pid"\nInterval 1\n'
            f'PluginDir "{_LIBRARIES[: _LIBRARIES.rindex("/")]}/collectd"\n'
            'TypesDB "{debian}/usr/share/collectd/types.db"\n'
            "LoadPlugin load\nLoadPlugin write_kafka\n<Plugin write_kafka>\n"
            '  Property "metadata.broker.list" "{bootstrap}"\n'
            + "".join(f'  Property "{name}" "{value}"\n' for name, value in LOGIN.items())
            + f'  <Topic "{TOPIC}">\n    Format JSON\n  </Topic>\n</Plugin>\n'
        },
    ),
)
