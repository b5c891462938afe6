"""How a verb of the control API says that it cannot be done."""


class ControlError(Exception):
    """`status` as in HTTP, the text says why."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
