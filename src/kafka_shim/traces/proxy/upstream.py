"""The proxy's connections to brokers: with or without TLS, with clients' credentials or its own."""

import asyncio
import ssl

from kafka_shim.client.config import PLAINTEXT, ClientConfig, Login
from kafka_shim.client.login import InvalidLoginResponseError, login_frames
from kafka_shim.protocol.code_names import error_name_with_code

CONNECT_SECONDS = 10
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class UpstreamConnector:
    """Opens connections to brokers; `config` has client properties as for --command-config."""

    def __init__(self, config: ClientConfig = PLAINTEXT) -> None:
        """Prepare TLS. Raise ConfigError if keys or certificates cannot be used."""
        self.login = config.login
        self._context: ssl.SSLContext | None = None
        if config.protocol.uses_tls:
            from kafka_shim.client.tls import client_tls_context  # noqa: PLC0415 - ssl takes a while to import

            self._context = client_tls_context(config.trust)

    async def open_authenticated(self, host: str, port: int) -> Streams:
        """Return a connection that is ready for the client's frames.

        Raise OSError or InvalidLoginResponseError.
        """
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                streams = await asyncio.open_connection(host, port, ssl=self._context)
                if self.login is not None:
                    await _authenticate_streams(streams, self.login)
                return streams
        except TimeoutError as error:
            raise OSError("no response in time") from error


async def _authenticate_streams(streams: Streams, login: Login) -> None:
    reader, writer = streams
    exchange = login_frames(login)
    try:
        frame = next(exchange)
        while True:
            writer.write(len(frame).to_bytes(4, "big") + frame)
            frame = exchange.send(await read_frame(reader))
    except StopIteration as done:
        if done.value.error_code:
            writer.close()
            raise InvalidLoginResponseError(
                f"it rejected the authentication of {login.username}:"
                f" {error_name_with_code(done.value.error_code)}"
            ) from None
    except asyncio.IncompleteReadError as error:
        reason = f"it closed the connection during the authentication of {login.username}"
        raise InvalidLoginResponseError(reason) from error


async def read_frame(reader: asyncio.StreamReader) -> bytes:
    """Return the next frame. Raise IncompleteReadError if the connection ends."""
    size = int.from_bytes(await reader.readexactly(4), "big")
    return await reader.readexactly(size)
