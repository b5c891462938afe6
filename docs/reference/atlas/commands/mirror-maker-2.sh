kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Describe --topic __consumer_offsets
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Read --operation Write --operation Create --operation DescribeConfigs --topic heartbeats
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Read --operation Write --operation Create --operation DescribeConfigs --topic mm2-configs.source.internal
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Read --operation Write --operation Create --operation DescribeConfigs --topic mm2-configs.target.internal
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Read --operation Write --operation Create --operation DescribeConfigs --topic mm2-offset-syncs.target.internal
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Read --operation Write --operation Create --operation DescribeConfigs --topic mm2-offsets.source.internal
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Read --operation Write --operation Create --operation DescribeConfigs --topic mm2-offsets.target.internal
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Read --operation Write --operation Create --operation DescribeConfigs --topic mm2-status.source.internal
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Read --operation Write --operation Create --operation DescribeConfigs --topic mm2-status.target.internal
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Read --operation DescribeConfigs --topic orders
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Create --operation Describe --operation DescribeConfigs --topic source.checkpoints.internal
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Write --operation Create --operation AlterConfigs --topic source.heartbeats
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Write --operation Create --operation AlterConfigs --topic source.orders
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Describe --group billing
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Read --group source-mm2
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Read --group target-mm2
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Alter --cluster
