kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Describe --operation AlterConfigs --topic orders
kafka-acls --bootstrap-server HOST:PORT --add --allow-principal User:app --operation Describe --operation AlterConfigs --cluster
