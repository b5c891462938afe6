"""The active conformance suite: it puts a client into situations and checks what the client does.

`contract` defines what a driver understands (`commands`, `shapes`). `driver` runs the driver, the
process that uses the client. A `situation` is a prepared broker together with a driver, a `case`
is one check, `cases` has all of them, and `play` runs them.
"""
