kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Write --topic orders
