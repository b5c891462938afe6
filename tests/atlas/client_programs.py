"""Client libraries, each with the usual tasks of a producer and of a consumer."""

import sys
from importlib.metadata import version
from pathlib import Path

import msgspec

from tests.atlas.program import Program, Step

_FOLDER = Path(__file__).parent / "clients"
_NO_TRACEBACK = r"\A(?!.*Traceback)"
"""The programs print nothing; if one fails, it prints a traceback."""


def _python(client: str, task: str, does: str) -> Program:
    name = f"{client}-{task}"
    script = _FOLDER / f"{name.replace('-', '_')}.py"
    step = Step((sys.executable, str(script)), _NO_TRACEBACK)
    return Program(name, version(client), does, (step,))


def _earlier(program: Program, release: str) -> Program:
    """Return the same task with an earlier release of a package of Python."""
    (step,) = program.steps
    package = program.name.rpartition("-")[0]
    argv = ("env", f"PYTHONPATH={{{package}-{release}}}", *step.argv)
    step = msgspec.structs.replace(step, argv=argv)
    return msgspec.structs.replace(program, version=release, steps=(step,))


def _pair(client: str, version: str, *argv: str) -> tuple[Program, Program]:
    """Return a producer and a consumer, which one program is, by its last argument."""
    return (
        Program(
            f"{client}-producer",
            version,
            "produces records",
            (Step((*argv, "producer"), _NO_TRACEBACK),),
        ),
        Program(
            f"{client}-consumer",
            version,
            "consumes records in a group and commits",
            (Step((*argv, "consumer"), _NO_TRACEBACK),),
        ),
    )


OTHER_LANGUAGES = (
    *_pair("franz-go", "1.22.2", "{go}/franz"),
    *_pair("sarama", "1.61.1", "{go}/sarama"),
    *_pair("kafka-go", "0.4.51", "{go}/segmentio"),
    *(
        program
        for version, name in (("2.11.1", "confluent-v2"), ("1.9.2", "confluent-v1"))
        for program in (
            *_pair("librdkafka", version, f"{{go}}/{name}"),
            Program(
                "librdkafka-transactions",
                version,
                "produces records in a transaction",
                (Step((f"{{go}}/{name}", "transactions"), _NO_TRACEBACK),),
            ),
        )
    ),
    *_pair("kafkajs", "2.2.4", "node", "{node}/kafkajs.js"),
)

_NEWEST = (
    _python("kafka-python", "producer", "produces records (idempotent)"),
    _python("kafka-python", "consumer", "consumes records in a group and commits"),
    _python("kafka-python", "admin", "creates and deletes a topic"),
    _python("aiokafka", "producer", "produces records"),
    _python("aiokafka", "transactions", "produces records in a transaction"),
    _python("aiokafka", "consumer", "consumes records in a group and commits"),
    _python("confluent-kafka", "producer", "produces records (idempotent)"),
    _python("confluent-kafka", "transactions", "reads, writes and commits exactly once"),
    _python("confluent-kafka", "consumer", "consumes records in a group and commits"),
)
_EARLIER = {"kafka-python": "2.0.2", "aiokafka": "0.8.1", "confluent-kafka": "2.0.2"}
CLIENTS = (
    *_NEWEST,
    *(
        _earlier(program, release)
        for program in _NEWEST
        for client, release in _EARLIER.items()
        if program.name.startswith(client)
    ),
)
