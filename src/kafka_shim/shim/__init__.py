"""The broker: listeners, handlers and the state they work on."""
