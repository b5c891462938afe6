"""Print the source that reads and writes a message.

`python -m kafka_shim.protocol.show CreateAcls 3` prints both of CreateAcls in version 3.

The name is that of an API (its request and response are shown) or of a message. The default is the
newest version.
"""

import argparse
import sys

from kafka_shim.protocol.codec.catalogue import (
    message_classes_by_name,
    message_spec_of_version,
)
from kafka_shim.protocol.codec.message_spec import load_message_spec
from kafka_shim.protocol.codec.reader_source import reader_source
from kafka_shim.protocol.codec.writer_source import writer_source
from kafka_shim.protocol.errors import UnsupportedVersionError
from kafka_shim.schemas import message_names


def codec_source(message_name: str, version: int | None) -> str:
    """Return the source of a message's reader and writer; the newest version when it is None."""
    chosen = load_message_spec(message_name).versions.high if version is None else version
    spec, types = (
        message_spec_of_version(message_name, chosen),
        message_classes_by_name(message_name),
    )
    parts = [
        f"# {message_name} v{chosen}\n\n",
        reader_source(spec, chosen, types).text,
        "\n\n",
        writer_source(spec, chosen, types).text,
    ]
    return "".join(parts)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m kafka_shim.protocol.show", description=__doc__)
    parser.add_argument("name", help="such as CreateAcls, CreateAclsRequest or OffsetCommitKey")
    parser.add_argument("version", nargs="?", type=int)
    options = parser.parse_args(arguments)
    known = message_names()
    candidates = [f"{options.name}{suffix}" for suffix in ("", "Request", "Response")]
    matches = [name for name in candidates if name in known]
    if not matches:
        sys.stderr.write(f"unknown message `{options.name}`: schemas/kafka has all names\n")
        return 2
    try:
        texts = [codec_source(name, options.version) for name in matches]
    except UnsupportedVersionError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write("\n\n".join(texts))
    return 0


if __name__ == "__main__":
    sys.exit(main())
