"""The engines that run the jobs' SQL: DuckDB in this process, or Spark for any size."""
