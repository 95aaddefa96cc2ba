"""Exercises by topic: one module each, in the order of the syllabus."""
