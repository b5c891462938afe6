"""Analysis of traces on Spark."""
