"""The active conformance suite: situations that a broker brings a client into, and what it must do.

`contract` is what a driver understands (`commands`, `shapes`), `driver` the process that speaks it,
`situation` a broker's state with a driver before it, `case` one thing to find out, `cases` all of
them, `play` the run.
"""
