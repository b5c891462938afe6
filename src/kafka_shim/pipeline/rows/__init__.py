"""Build the rows of tables from a trace's bytes: functions that fill Arrow batches, no Spark."""
