kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Read --topic orders
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Read --group billing
