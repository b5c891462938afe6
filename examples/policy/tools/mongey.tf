terraform {
  required_providers {
    kafka = {
      source = "Mongey/kafka"
    }
  }
}

provider "kafka" {
  bootstrap_servers = ["127.0.0.1:9092"]
  tls_enabled       = var.tls
}

resource "kafka_topic" "orders" {
  name               = "orders-eu"
  replication_factor = 3
  partitions         = 12
  config = {
    "cleanup.policy" = "compact"
  }
}

resource "kafka_acl" "read_orders" {
  resource_name                = "orders-"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Prefixed"
  acl_principal                = "User:billing"
  acl_host                     = "*"
  acl_operation                = "Read"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "configs_of_orders" {
  resource_name                = "orders-"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Prefixed"
  acl_principal                = "User:billing"
  acl_host                     = "*"
  acl_operation                = "DescribeConfigs"
  acl_permission_type          = "Allow"
  depends_on                   = [kafka_topic.orders]
}

resource "kafka_acl" "group" {
  resource_name       = "billing"
  resource_type       = "Group"
  acl_principal       = "User:billing"
  acl_host            = "*"
  acl_operation       = "Read"
  acl_permission_type = "Allow"
}

resource "kafka_acl" "transactions" {
  resource_name                = "billing-"
  resource_type                = "TransactionalID"
  resource_pattern_type_filter = "Prefixed"
  acl_principal                = "User:billing"
  acl_host                     = "10.0.0.1"
  acl_operation                = "Write"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "idempotent" {
  resource_name       = "kafka-cluster"
  resource_type       = "Cluster"
  acl_principal       = "User:billing"
  acl_host            = "*"
  acl_operation       = "IdempotentWrite"
  acl_permission_type = "Allow"
}
