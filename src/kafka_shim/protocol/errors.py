"""Exceptions of reading and writing messages."""


class ProtocolError(Exception):
    """Bytes of a peer, or a message to write, violate the protocol."""


class DecodeError(ProtocolError):
    """These bytes are not a message of the expected type and version."""


class EncodeError(ProtocolError):
    """The message cannot be written in this version."""


class FrameError(ProtocolError):
    """The size of a frame is invalid or above the limit."""


class UnsupportedVersionError(ProtocolError):
    """The API key or its version is unknown."""
