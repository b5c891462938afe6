"""The Kafka release of a trace's broker."""

from collections.abc import Iterable
from pathlib import Path

from kafka_shim.protocol.api_versions import most_similar_release
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import NO_ERROR
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.message_frames import read_response_with_version
from kafka_shim.trace_format.entries import Response
from kafka_shim.trace_format.segments import Block, read_segment


def releases_of_segments(segments: Iterable[Path]) -> set[str]:
    """Return the releases that brokers recorded or, for proxies and captures, those whose versions
    are most like the ones in responses to ApiVersions. Only the first blocks are read.
    """
    blocks = [
        first
        for segment in segments
        if (
            first := next((each for each in read_segment(segment) if isinstance(each, Block)), None)
        )
    ]
    recorded = {each.release for block in blocks for each in block.body.connections} - {""}
    return recorded or {release for block in blocks if (release := _release_by_versions(block))}


def _release_by_versions(block: Block) -> str | None:
    for entry in block.body.entries:
        if isinstance(entry, Response) and entry.api_key == ApiKey.API_VERSIONS:
            try:
                message, _ = read_response_with_version(
                    ApiKey.API_VERSIONS, entry.api_version, entry.frame
                )
            except ProtocolError:
                continue
            if message.error_code == NO_ERROR:  # with an error, it has ApiVersions only
                spans = {
                    api.api_key: (api.min_version, api.max_version) for api in message.api_keys
                }
                return most_similar_release(spans)
    return None
