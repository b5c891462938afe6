"""A broker for one's own tests, from Python: `start()` gives a `KafkaBroker`.

Nothing here needs more than the standard library; the broker itself runs in a process of its own,
unless it is asked to run in this one.
"""

from typing import Any

from shim.testing.broker import KafkaBroker

__all__ = ["KafkaBroker", "start"]


def start(*, in_process: bool = False, **config: Any) -> KafkaBroker:
    """A running broker; use it in a `with`, or `stop()` it. `config` as in `Settings`."""
    from shim.testing.settings import Settings  # noqa: PLC0415 - only those who start one need it

    settings = Settings(**config)
    if in_process:
        from shim.testing.in_process import InProcess  # noqa: PLC0415 - imports the whole broker

        return KafkaBroker(InProcess(settings), settings)
    from shim.testing.process import OwnProcess  # noqa: PLC0415 - as above

    return KafkaBroker(OwnProcess(settings), settings)
