"""Where the learners of a study go wrong: rows, groups of rows, and disagreement."""
