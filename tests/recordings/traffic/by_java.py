"""Runs Kafka's own command-line tools as erin and dave."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.oracle.real_kafka import jars
from tests.recordings.traffic.grants import PASSWORDS

SECONDS = 60
_TOOLS = "org.apache.kafka.tools"
_LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule"


def play(release: str, address: str, folder: Path) -> None:
    """Run the tools one after the other; denied requests are part of the run."""
    for number, (user, tool, arguments, text) in enumerate(_runs()):
        config = folder / f"{user}.properties"
        config.write_text(
            "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
            f'sasl.jaas.config={_LOGIN} required username="{user}" password="{PASSWORDS[user]}";\n'
            "default.api.timeout.ms=8000\nrequest.timeout.ms=6000\nmax.block.ms=5000\n"
        )
        option = "--command-config"
        command = ["java", "-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", f"{jars(release)}/*"]
        command += [f"{_TOOLS}.{tool}", "--bootstrap-server", address, option, str(config)]
        log_file = folder / f"tool-{number}.log"
        with log_file.open("wb") as log:
            subprocess.run(
                [*command, *arguments],
                input=text.encode(),
                stdout=log,
                stderr=subprocess.STDOUT,
                check=False,
                timeout=SECONDS,
            )
        sys.stdout.write(f"{user} {tool} {' '.join(arguments[:2])}: {_end_of(log_file)}\n")


def _end_of(log: Path) -> str:
    lines = [line for line in log.read_text().splitlines() if line.strip()]
    return lines[-1][:200] if lines else "it said nothing"


def _runs() -> Iterator[tuple[str, str, list[str], str]]:
    reading = ["--from-beginning", "--timeout-ms", "6000"]
    for topic in ("shared", "secret"):
        yield "erin", "ConsoleProducer", ["--topic", topic], "one\ntwo\nthree\n"
    for topic, group, protocol in (
        ("shared", "erin-classic", "classic"),
        ("shared", "erin-modern", "consumer"),
        ("secret", "erin-classic", "classic"),
        ("secret", "erin-modern", "consumer"),
        ("shared", "foreign", "consumer"),
    ):
        own = ["--topic", topic, "--group", group, "--command-property"]
        yield "erin", "consumer.ConsoleConsumer", [*own, f"group.protocol={protocol}", *reading], ""
    own = ["--include", "shared|secret|orders", "--group", "erin-modern", "--command-property"]
    yield "erin", "consumer.ConsoleConsumer", [*own, "group.protocol=consumer", *reading], ""
    for topic in ("shared", "secret"):
        own = ["--topic", topic, "--group", "erin-share", "--timeout-ms", "5000"]
        yield "erin", "consumer.ConsoleShareConsumer", own, ""
    for user in ("erin", "dave"):
        yield user, "TopicCommand", ["--list"], ""
        yield user, "TopicCommand", ["--describe"], ""
        yield user, "consumer.group.ConsumerGroupCommand", ["--list"], ""
        yield user, "consumer.group.ConsumerGroupCommand", ["--describe", "--all-groups"], ""
        yield user, "consumer.group.ShareGroupCommand", ["--describe", "--group", "erin-share"], ""
    for topic in ("erin-made", "erin-locked", "foreign"):
        yield "erin", "TopicCommand", ["--create", "--topic", topic, "--partitions", "1"], ""
    for topic in ("erin-made", "erin-locked", "kept"):
        yield "erin", "TopicCommand", ["--delete", "--topic", topic], ""
    yield "erin", "TransactionsCommand", ["list"], ""
