"""The active conformance suite: situations that a broker brings a client into, and what it must do.

`contract` defines what a driver understands (`commands`, `shapes`), `driver` is the process that
implements it, `situation` a broker in a prepared state with a driver, `case` one question, `cases`
all of them, `play` the run.
"""
