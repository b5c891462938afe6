"""A driver for tools: shows what a tool on a library's admin client would show.

`python admin_tool.py kafka_python_driver` or `python admin_tool.py confluent_kafka_driver`.
"""

import importlib
import sys
from typing import Any

import line_loop

library = importlib.import_module(sys.argv[-1])
do = library.COMMANDS
ALL_ACLS = dict.fromkeys(("resource_type", "pattern_type", "operation", "permission"), "ANY")
ALL_ACLS |= dict.fromkeys(("name", "principal", "host"))


def show_list(client: str, kind: str) -> Any:
    match kind:
        case "topics" | "groups":
            return {"names": do[f"list_{kind}"](client)[kind]}
        case "brokers":
            found = do["describe_cluster"](client, operations=False)
            return {"names": [str(number) for number in found["brokers"]]}
        case "acls":
            found = do["describe_acls"](client, filter=ALL_ACLS)
            return {"names": [acl["principal"] for acl in found["acls"]]}
    raise line_loop.UnsupportedError


def describe(client: str, kind: str, names: list[str]) -> Any:
    if kind == "brokers":  # one after the other: librdkafka takes one broker in a call

        def settings(name: str) -> Any:
            return do["describe_configs"](client, type="broker", names=[name])["items"][name]

        return line_loop.items(names, settings)
    return do[f"describe_{kind}"](client, names=names, operations=True)


def change(client: str, names: list[str], setting: str, value: str) -> Any:
    return do["alter_configs"](client, type="topic", names=names, setting=setting, value=value)


if __name__ == "__main__":
    commands = {"open": do["open"], "close": do["close"], "list": show_list}
    commands |= {"describe": describe, "change": change}
    name = sys.argv[-1].removesuffix("_driver").replace("_", "-")
    line_loop.serve(f"{name} admin", "", commands, library.error_of)
