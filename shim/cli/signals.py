"""Being told to stop: SIGINT and SIGTERM, wherever the event loop can listen for them."""

import asyncio
import signal
import sys
from collections.abc import Callable


def on_stop(callback: Callable[[signal.Signals], None]) -> None:
    """Call back on the loop; on Windows, whose loops cannot, Ctrl-C stays an exception."""
    if sys.platform == "win32":
        return
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, callback, number)
