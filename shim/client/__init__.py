"""What the command line and the fixture ask a broker with."""
