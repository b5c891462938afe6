"""What can go wrong between bytes and messages: one tree of exceptions."""


class ProtocolError(Exception):
    """The peer's bytes, or a message to be written, do not follow the protocol."""


class DecodeError(ProtocolError):
    """These bytes are not a message of the expected type and version."""


class EncodeError(ProtocolError):
    """This message cannot be said in this version."""


class FrameError(ProtocolError):
    """A frame's claimed size is impossible or over the limit."""


class UnsupportedVersionError(ProtocolError):
    """No such API key, or no such version of it."""
