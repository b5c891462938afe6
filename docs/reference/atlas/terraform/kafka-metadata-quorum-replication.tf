resource "kafka_acl" "allow_app_describe_cluster" {
  resource_name                = "kafka-cluster"
  resource_type                = "Cluster"
  resource_pattern_type_filter = "Literal"
  acl_principal                = "User:app"
  acl_host                     = "*"
  acl_operation                = "Describe"
  acl_permission_type          = "Allow"
}
