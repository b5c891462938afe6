"""Lets the broker's process write its stacks: Python imports this module at its start."""

from benchmarks.soak import watchdog

watchdog.write_stacks_on_signal()
