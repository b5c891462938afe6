"""A Kafka broker for tests that decides who may do what exactly as a chosen release does."""

TYPE_CHECKING = False  # type checkers take it for typing's, which would be an import

__version__: str

if not TYPE_CHECKING:

    def __getattr__(name: str) -> str:
        """Look the version up when it is asked for: `import kafka_shim` imports nothing else."""
        if name == "__version__":
            from importlib.metadata import version  # noqa: PLC0415 - as above

            return version("kafka-shim")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
