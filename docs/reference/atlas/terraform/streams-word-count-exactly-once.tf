resource "kafka_acl" "allow_app_read_topic_streams-plaintext-input" {
  resource_name                = "streams-plaintext-input"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Read"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_write_topic_streams-wordcount-output" {
  resource_name                = "streams-wordcount-output"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Write"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_read_topics_word-count-" {
  resource_name                = "word-count-"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Prefixed"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Read"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_write_topics_word-count-" {
  resource_name                = "word-count-"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Prefixed"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Write"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_create_topics_word-count-" {
  resource_name                = "word-count-"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Prefixed"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Create"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_read_group_word-count" {
  resource_name                = "word-count"
  resource_type                = "Group"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Read"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_write_transactionalids_word-count-" {
  resource_name                = "word-count-"
  resource_type                = "TransactionalID"
  resource_pattern_type_filter = "Prefixed"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Write"
  acl_permission_type          = "Allow"
}
