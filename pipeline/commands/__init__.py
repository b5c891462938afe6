"""The jobs as commands: what each is asked, what it reads, what is told of its findings."""
