"""Text for users and from users: log lines, messages, options, HTML. It knows nothing of Kafka."""
