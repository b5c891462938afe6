"""Analysis of traces on Spark: what an ACL change would break, which ACLs nobody uses, and more.

What needs Spark is in `source`, `session`, `jobs` and `cli`; the rest are plain functions from
segments to Arrow batches and from accesses to findings, which need no JVM (docs/pipeline.md).
"""
