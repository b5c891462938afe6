"""Records of requests: the audit log, the history, the trace."""
