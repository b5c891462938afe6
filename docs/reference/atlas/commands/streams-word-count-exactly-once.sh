kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Read --topic streams-plaintext-input
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Write --topic streams-wordcount-output
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Read --operation Write --operation Create --topic word-count- --resource-pattern-type prefixed
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Read --group word-count
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Write --transactional-id word-count- --resource-pattern-type prefixed
