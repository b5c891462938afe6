"""Analysis of traces with Spark: what an ACL change would break, which ACLs are unused, and more.

From the lowest layer up: `rows` turns a trace into rows of `tables`, and `acls` decides accesses,
both without a JVM. `spark` reads and stores rows in Spark, `jobs` compute results, `report` prints
them, and `commands` are the jobs' command lines (docs/guides/pipeline.md).
"""
