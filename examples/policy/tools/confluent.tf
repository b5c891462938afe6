resource "confluent_kafka_cluster" "main" {
  display_name = "main"
  availability = "SINGLE_ZONE"
  cloud        = "AWS"
  region       = var.region
  basic {}
  environment {
    id = confluent_environment.staging.id
  }
}

resource "confluent_kafka_acl" "read_orders" {
  kafka_cluster {
    id = confluent_kafka_cluster.main.id
  }
  resource_type = "TOPIC"
  resource_name = "orders-"
  pattern_type  = "PREFIXED"
  principal     = "User:billing"
  host          = "*"
  operation     = "READ"
  permission    = "ALLOW"
  rest_endpoint = confluent_kafka_cluster.main.rest_endpoint

  credentials {
    key    = confluent_api_key.admin.id
    secret = confluent_api_key.admin.secret
  }

  lifecycle {
    prevent_destroy = true
  }
}

resource "confluent_kafka_acl" "configs_of_orders" {
  kafka_cluster {
    id = confluent_kafka_cluster.main.id
  }
  resource_type = "TOPIC"
  resource_name = "orders-"
  pattern_type  = "PREFIXED"
  principal     = "User:billing"
  host          = "*"
  operation     = "DESCRIBE_CONFIGS"
  permission    = "ALLOW"
  rest_endpoint = confluent_kafka_cluster.main.rest_endpoint

  credentials {
    key    = confluent_api_key.admin.id
    secret = confluent_api_key.admin.secret
  }

  lifecycle {
    prevent_destroy = true
  }
}

resource "confluent_kafka_acl" "group" {
  kafka_cluster {
    id = confluent_kafka_cluster.main.id
  }
  resource_type = "GROUP"
  resource_name = "billing"
  pattern_type  = "LITERAL"
  principal     = "User:billing"
  host          = "*"
  operation     = "READ"
  permission    = "ALLOW"
  rest_endpoint = confluent_kafka_cluster.main.rest_endpoint

  credentials {
    key    = confluent_api_key.admin.id
    secret = confluent_api_key.admin.secret
  }

  lifecycle {
    prevent_destroy = true
  }
}

resource "confluent_kafka_acl" "transactions" {
  kafka_cluster {
    id = confluent_kafka_cluster.main.id
  }
  resource_type = "TRANSACTIONAL_ID"
  resource_name = "billing-"
  pattern_type  = "PREFIXED"
  principal     = "User:billing"
  host          = "10.0.0.1"
  operation     = "WRITE"
  permission    = "ALLOW"
  rest_endpoint = confluent_kafka_cluster.main.rest_endpoint

  credentials {
    key    = confluent_api_key.admin.id
    secret = confluent_api_key.admin.secret
  }

  lifecycle {
    prevent_destroy = true
  }
}

resource "confluent_kafka_acl" "idempotent" {
  kafka_cluster {
    id = confluent_kafka_cluster.main.id
  }
  resource_type = "CLUSTER"
  resource_name = "kafka-cluster"
  pattern_type  = "LITERAL"
  principal     = "User:billing"
  host          = "*"
  operation     = "IDEMPOTENT_WRITE"
  permission    = "ALLOW"
  rest_endpoint = confluent_kafka_cluster.main.rest_endpoint

  credentials {
    key    = confluent_api_key.admin.id
    secret = confluent_api_key.admin.secret
  }

  lifecycle {
    prevent_destroy = true
  }
}
