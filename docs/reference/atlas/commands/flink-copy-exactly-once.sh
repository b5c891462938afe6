kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Write --topic invoices
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Read --topic orders
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Read --group billing
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Write --transactional-id billing-tx --resource-pattern-type prefixed
