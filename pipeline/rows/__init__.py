"""From the bytes of a trace to rows of its tables, without Spark: functions to Arrow batches."""
