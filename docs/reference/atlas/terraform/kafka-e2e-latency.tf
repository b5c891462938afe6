resource "kafka_acl" "allow_app_read_topic_orders" {
  resource_name                = "orders"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Read"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_write_topic_orders" {
  resource_name                = "orders"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Write"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_read_groups_test-group-" {
  resource_name                = "test-group-"
  resource_type                = "Group"
  resource_pattern_type_filter = "Prefixed"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Read"
  acl_permission_type          = "Allow"
}
