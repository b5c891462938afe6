"""A cluster with stored data in this process, and a way to restart it."""

from pathlib import Path
from typing import Any

from kafka_shim.shim.storage.storage import Storage
from tests.shim.play import Stage

RUNNING: "list[KeptStage]" = []
"""The stages whose directory is open."""


class KeptStage(Stage):
    """A stage with a data directory."""

    def __init__(self, directory: Path, release: str = "", **settings: Any) -> None:
        super().__init__(release, **settings)
        self.directory = directory
        self._settings = settings
        self.storage = Storage(directory)
        self.dispatcher.set_storage(self.storage)
        try:
            self.storage.restore_cluster(self.cluster)
        except BaseException:
            self.storage.close_without_writing()
            raise
        RUNNING.append(self)

    def again(self, **settings: Any) -> "KeptStage":
        """Kill this stage; return a new one with its directory, at the same time."""
        self.storage.commit()
        self.kill()
        later = KeptStage(self.directory, self.cluster.release, **{**self._settings, **settings})
        later.clock.advance(self.clock.now_ms() - later.clock.now_ms())
        return later

    def kill(self) -> None:
        """Close the database without committing, as if the process were killed."""
        RUNNING.remove(self)
        self.storage._database.close_without_commit()
