from lyceum.exercises.checking import (
    Mark as Mark,
    Marks as Marks,
    check_answers as check_answers,
)
from lyceum.exercises.exercise import (
    Exercise as Exercise,
    ExerciseKind as ExerciseKind,
    list_exercises as list_exercises,
    make_exercise as make_exercise,
    student_seed as student_seed,
)
from lyceum.exercises.files import (
    render_exercise as render_exercise,
    write_class as write_class,
)
from lyceum.exercises.sheet import (
    ExerciseQuestion as ExerciseQuestion,
    Mistake as Mistake,
)
