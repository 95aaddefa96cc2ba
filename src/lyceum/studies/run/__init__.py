"""How the tasks of a study are run and stored."""
