"""The control API: tests inspect and change a running broker, over HTTP or in process."""
