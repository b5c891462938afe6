"""All programs of the atlas."""

from tests.atlas.client_programs import CLIENTS, OTHER_LANGUAGES
from tests.atlas.java_programs import JAVA_PROGRAMS
from tests.atlas.kafka_tools import KAFKA_TOOLS
from tests.atlas.program import Program

PROGRAMS = (*CLIENTS, *OTHER_LANGUAGES, *JAVA_PROGRAMS, *KAFKA_TOOLS)


def program_by_name(name: str) -> Program:
    (program,) = (program for program in PROGRAMS if program.name == name)
    return program
