from lyceum.exercises.exercise import (
    Exercise as Exercise,
    ExerciseKind as ExerciseKind,
    list_exercises as list_exercises,
    make_exercise as make_exercise,
    student_seed as student_seed,
)
from lyceum.exercises.sheet import Mistake as Mistake, Question as Question
