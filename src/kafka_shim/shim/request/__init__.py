"""The request as a handler sees it: session, permissions, context."""
