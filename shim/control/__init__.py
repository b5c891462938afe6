"""The control API: what a test may see and change of a running broker, over HTTP or in process."""
