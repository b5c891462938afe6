"""What a user of the pipeline can do something about."""


class PipelineError(Exception):
    """The text says, in one line, what is wrong and what to do."""
