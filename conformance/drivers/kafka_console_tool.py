"""The driver of kafka-console, a command line in the npm registry: what its commands print.

`python kafka_console_tool.py node_modules/.bin/kafka-console`
"""

import json
import subprocess
import sys
from typing import Any

import line_loop

KINDS = {"topics": "topic", "brokers": "broker"}


class Console(line_loop.Tool):
    def __init__(self, servers: str, login: Any, **_: Any) -> None:
        self._command = [*sys.argv[1:], "--brokers", servers, "--timeout", "5000"]
        if login is not None:
            self._command += ["--mechanism", login["mechanism"].lower()]
            self._command += ["--username", login["user"], "--password", login["password"]]

    def _run(self, *words: str) -> list[Any]:
        done = subprocess.run([*self._command, *words], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr.strip())
        return [json.loads(line) for line in done.stdout.splitlines()]

    def _topics(self) -> list[str]:
        return self._run("list", "--all")

    def _brokers(self) -> list[str]:
        return [str(broker["nodeId"]) for broker in self._run("metadata")[0]["brokers"]]

    def _describe(self, kind: str, name: str) -> Any:
        [found] = self._run("config", "--resource", KINDS[kind], "--resourceName", name)
        return {"settings": len(found["configs"])}


if __name__ == "__main__":
    version = subprocess.check_output([*sys.argv[1:], "--version"], text=True).strip()
    line_loop.serve("kafka-console", version, line_loop.commands_of(Console))
