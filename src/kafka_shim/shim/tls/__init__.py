"""TLS listeners: contexts from Kafka's settings, principals from certificates."""
