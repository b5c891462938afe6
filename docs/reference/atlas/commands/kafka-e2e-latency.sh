kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Read --operation Write --topic orders
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Read --group test-group- --resource-pattern-type prefixed
