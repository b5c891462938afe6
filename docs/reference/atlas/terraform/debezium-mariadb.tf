resource "kafka_acl" "allow_app_write_topic_db" {
  resource_name                = "db"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Write"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_create_topic_db" {
  resource_name                = "db"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Create"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_read_topic_db-history" {
  resource_name                = "db-history"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Read"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_write_topic_db-history" {
  resource_name                = "db-history"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Write"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_create_topic_db-history" {
  resource_name                = "db-history"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Create"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_describeconfigs_topic_db-history" {
  resource_name                = "db-history"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "DescribeConfigs"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_write_topic_db_shop_items_57b1c1" {
  resource_name                = "db.shop.items"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Write"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_create_topic_db_shop_items_583a4f" {
  resource_name                = "db.shop.items"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Create"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_read_group_db-schemahistory" {
  resource_name                = "db-schemahistory"
  resource_type                = "Group"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Read"
  acl_permission_type          = "Allow"
}
