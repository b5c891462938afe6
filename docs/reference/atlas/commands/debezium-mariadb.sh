kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Write --operation Create --topic db
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Read --operation Write --operation Create --operation DescribeConfigs --topic db-history
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Write --operation Create --topic db.shop.items
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Read --group db-schemahistory
