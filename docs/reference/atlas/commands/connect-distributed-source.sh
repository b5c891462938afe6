kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Read --operation Write --operation Create --topic connect-configs
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Read --operation Write --operation Create --topic connect-offsets
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Read --operation Write --operation Create --topic connect-status
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Write --topic orders
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Read --group connect-cluster
