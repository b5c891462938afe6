kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Describe --topic __consumer_offsets
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Describe --topic orders
