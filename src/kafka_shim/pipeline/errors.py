"""Errors that a user of the pipeline can correct."""


class PipelineError(Exception):
    """An error with one line of text: what is wrong and what to do."""


class InvalidOptionOrFileError(PipelineError):
    """An invalid option, trace or file; found before Spark starts."""
