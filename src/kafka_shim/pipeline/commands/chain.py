"""`--then JOB ...`: several jobs in one command, which share one Spark session."""

import argparse
from collections.abc import Iterator, Sequence
from typing import Any


class Then(argparse.Action):
    """Parse the following arguments as another job with its options."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings | {"nargs": argparse.REMAINDER})

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,  # noqa: ARG002 - argparse's
    ) -> None:
        from kafka_shim.pipeline.commands.arguments import add_arguments

        following = type(parser)(prog=parser.prog.rpartition(" ")[0])
        add_arguments(following)
        namespace.then = following.parse_args(list(values or ()))


def jobs_of(args: argparse.Namespace) -> Iterator[argparse.Namespace]:
    """Yield the jobs of a command, in their order."""
    following: argparse.Namespace | None = args
    while following is not None:
        yield following
        following = following.then
