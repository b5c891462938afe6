"""Which of Kafka's test classes are run, the most telling ones first."""

_CLIENTS = "org.apache.kafka.clients"

CLASSES = (
    "kafka.api.AuthorizerIntegrationTest",
    f"{_CLIENTS}.security.GroupAuthorizerIntegrationTest",
    f"{_CLIENTS}.admin.DescribeAuthorizedOperationsTest",
)
