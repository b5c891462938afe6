"""The state of a cluster; independent of handlers and connections."""
