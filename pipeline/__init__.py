"""Analysis of traces on Spark: what an ACL change would break, which ACLs nobody uses, and more.

From below: `rows` makes a trace rows of `tables`, `acls` judges accesses (both without a JVM),
`spark` reads and keeps them there, `jobs` find, `report` shows, `commands` run (docs/pipeline.md).
"""
