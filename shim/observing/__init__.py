"""What is kept of requests: the audit line, the history, the trace."""
