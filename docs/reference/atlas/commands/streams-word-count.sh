kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Read --topic streams-plaintext-input
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Write --topic streams-wordcount-output
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Read --operation Write --operation Create --topic word-count-KSTREAM-AGGREGATE-STATE-STORE-0000000003-changelog
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Read --operation Write --operation Create --topic word-count-KSTREAM-AGGREGATE-STATE-STORE-0000000003-repartition
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Read --group word-count
