"""All programs of the atlas.

Not among them: kaf, kafka_exporter, Burrow and Redpanda Connect, whose modules Go's proxy does not
serve; fluent-bit, Vector and Telegraf, which Debian 12 does not have; AKHQ and Kafbat UI, which are
no artifacts of Maven Central. Telegraf's Go module exists, but was not built.
"""

from tests.atlas.client_programs import CLIENTS, OTHER_LANGUAGES
from tests.atlas.java_programs import JAVA_PROGRAMS
from tests.atlas.kafka_tools import KAFKA_TOOLS
from tests.atlas.native_programs import NATIVE_PROGRAMS
from tests.atlas.program import Program

PROGRAMS = (*CLIENTS, *OTHER_LANGUAGES, *NATIVE_PROGRAMS, *JAVA_PROGRAMS, *KAFKA_TOOLS)


def find_program(name: str, version: str = "") -> Program:
    """Return a program in a version, by default its newest, which is the first."""
    versions = [program for program in PROGRAMS if program.name == name]
    return next(program for program in versions if version in ("", program.version))
