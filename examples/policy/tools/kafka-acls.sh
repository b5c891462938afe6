#!/usr/bin/env bash
set -eu
kafka-acls.sh --bootstrap-server "127.0.0.1:9092" --command-config admin.properties \
  --add --allow-principal User:billing --operation Read --operation DescribeConfigs \
  --topic orders- --resource-pattern-type prefixed
kafka-acls.sh --bootstrap-server 127.0.0.1:9092 --add --allow-principal User:billing --operation Read --group billing
kafka-acls.sh --bootstrap-server 127.0.0.1:9092 --add --allow-principal User:billing --allow-host 10.0.0.1 \
  --operation Write --transactional-id billing- --resource-pattern-type prefixed
kafka-acls.sh --bootstrap-server 127.0.0.1:9092 --add --allow-principal User:billing --operation IdempotentWrite --cluster
