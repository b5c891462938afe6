"""Play a trace back as a broker, without a cluster behind it."""
