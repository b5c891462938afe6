resource "kafka_acl" "allow_app_alterconfigs_group_billing" {
  resource_name                = "billing"
  resource_type                = "Group"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "AlterConfigs"
  acl_permission_type          = "Allow"
}
