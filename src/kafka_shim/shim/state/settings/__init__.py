"""Settings of brokers and topics: their definitions by release, their values and their checks."""
