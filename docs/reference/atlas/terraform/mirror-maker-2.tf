resource "kafka_acl" "allow_app_describe_topic___consumer_offsets" {
  resource_name                = "__consumer_offsets"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Describe"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_read_topic_heartbeats" {
  resource_name                = "heartbeats"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Read"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_write_topic_heartbeats" {
  resource_name                = "heartbeats"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Write"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_create_topic_heartbeats" {
  resource_name                = "heartbeats"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Create"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_describeconfigs_topic_heartbeats" {
  resource_name                = "heartbeats"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "DescribeConfigs"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_read_topic_mm2-configs_source_internal_12cb45" {
  resource_name                = "mm2-configs.source.internal"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Read"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_write_topic_mm2-configs_source_internal_b101c0" {
  resource_name                = "mm2-configs.source.internal"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Write"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_create_topic_mm2-configs_source_internal_2f1b9a" {
  resource_name                = "mm2-configs.source.internal"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Create"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_describeconfigs_topic_mm2-configs_source_internal_fbc272" {
  resource_name                = "mm2-configs.source.internal"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "DescribeConfigs"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_read_topic_mm2-configs_target_internal_d3c90f" {
  resource_name                = "mm2-configs.target.internal"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Read"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_write_topic_mm2-configs_target_internal_41bb0a" {
  resource_name                = "mm2-configs.target.internal"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Write"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_create_topic_mm2-configs_target_internal_029082" {
  resource_name                = "mm2-configs.target.internal"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Create"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_describeconfigs_topic_mm2-configs_target_internal_aecff2" {
  resource_name                = "mm2-configs.target.internal"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "DescribeConfigs"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_read_topic_mm2-offset-syncs_target_internal_e61da5" {
  resource_name                = "mm2-offset-syncs.target.internal"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Read"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_write_topic_mm2-offset-syncs_target_internal_7a9ea7" {
  resource_name                = "mm2-offset-syncs.target.internal"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Write"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_create_topic_mm2-offset-syncs_target_internal_0aed95" {
  resource_name                = "mm2-offset-syncs.target.internal"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Create"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_describeconfigs_topic_mm2-offset-syncs_target_internal_c4c862" {
  resource_name                = "mm2-offset-syncs.target.internal"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "DescribeConfigs"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_read_topic_mm2-offsets_source_internal_366ff6" {
  resource_name                = "mm2-offsets.source.internal"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Read"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_write_topic_mm2-offsets_source_internal_0a595d" {
  resource_name                = "mm2-offsets.source.internal"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Write"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_create_topic_mm2-offsets_source_internal_101b91" {
  resource_name                = "mm2-offsets.source.internal"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Create"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_describeconfigs_topic_mm2-offsets_source_internal_901a8b" {
  resource_name                = "mm2-offsets.source.internal"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "DescribeConfigs"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_read_topic_mm2-offsets_target_internal_87a806" {
  resource_name                = "mm2-offsets.target.internal"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Read"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_write_topic_mm2-offsets_target_internal_ed68e7" {
  resource_name                = "mm2-offsets.target.internal"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Write"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_create_topic_mm2-offsets_target_internal_8454ed" {
  resource_name                = "mm2-offsets.target.internal"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Create"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_describeconfigs_topic_mm2-offsets_target_internal_e4bb14" {
  resource_name                = "mm2-offsets.target.internal"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "DescribeConfigs"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_read_topic_mm2-status_source_internal_f46c91" {
  resource_name                = "mm2-status.source.internal"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Read"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_write_topic_mm2-status_source_internal_f5a227" {
  resource_name                = "mm2-status.source.internal"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Write"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_create_topic_mm2-status_source_internal_f699fd" {
  resource_name                = "mm2-status.source.internal"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Create"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_describeconfigs_topic_mm2-status_source_internal_dd2ed9" {
  resource_name                = "mm2-status.source.internal"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "DescribeConfigs"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_read_topic_mm2-status_target_internal_2ffd42" {
  resource_name                = "mm2-status.target.internal"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Read"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_write_topic_mm2-status_target_internal_c7b203" {
  resource_name                = "mm2-status.target.internal"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Write"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_create_topic_mm2-status_target_internal_744afc" {
  resource_name                = "mm2-status.target.internal"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Create"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_describeconfigs_topic_mm2-status_target_internal_fc71d9" {
  resource_name                = "mm2-status.target.internal"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "DescribeConfigs"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_read_topic_orders" {
  resource_name                = "orders"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Read"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_describeconfigs_topic_orders" {
  resource_name                = "orders"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "DescribeConfigs"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_create_topic_source_checkpoints_internal_c02e40" {
  resource_name                = "source.checkpoints.internal"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Create"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_describe_topic_source_checkpoints_internal_85f081" {
  resource_name                = "source.checkpoints.internal"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Describe"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_describeconfigs_topic_source_checkpoints_internal_84c2aa" {
  resource_name                = "source.checkpoints.internal"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "DescribeConfigs"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_write_topic_source_heartbeats_59671e" {
  resource_name                = "source.heartbeats"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Write"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_create_topic_source_heartbeats_743742" {
  resource_name                = "source.heartbeats"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Create"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_alterconfigs_topic_source_heartbeats_83d216" {
  resource_name                = "source.heartbeats"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "AlterConfigs"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_write_topic_source_orders_366cce" {
  resource_name                = "source.orders"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Write"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_create_topic_source_orders_e234f3" {
  resource_name                = "source.orders"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Create"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_alterconfigs_topic_source_orders_f9cb4b" {
  resource_name                = "source.orders"
  resource_type                = "Topic"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "AlterConfigs"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_describe_group_billing" {
  resource_name                = "billing"
  resource_type                = "Group"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Describe"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_read_group_source-mm2" {
  resource_name                = "source-mm2"
  resource_type                = "Group"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Read"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_read_group_target-mm2" {
  resource_name                = "target-mm2"
  resource_type                = "Group"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Read"
  acl_permission_type          = "Allow"
}

resource "kafka_acl" "allow_app_alter_cluster" {
  resource_name                = "kafka-cluster"
  resource_type                = "Cluster"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Alter"
  acl_permission_type          = "Allow"
}
