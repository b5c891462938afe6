"""The least ACLs that a program needs, learned by running it where everything is allowed."""
