"""How learners did, one by one and against each other."""
