"""kafka-python creates and deletes a topic."""

import os

from kafka.admin import KafkaAdminClient, NewTopic

admin = KafkaAdminClient(
    bootstrap_servers=os.environ["KAFKA_BOOTSTRAP_SERVERS"],
    security_protocol="SASL_PLAINTEXT",
    sasl_mechanism="PLAIN",
    sasl_plain_username=os.environ["KAFKA_USER"],
    sasl_plain_password=os.environ["KAFKA_PASSWORD"],
)
admin.create_topics([NewTopic("invoices", 1, 1)])
admin.delete_topics(["invoices"])
admin.close()
