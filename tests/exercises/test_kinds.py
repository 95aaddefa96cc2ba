"""Every kind of exercise, at every level: solved twice with the same digits, and repeatable."""

import re
from fractions import Fraction

import pytest

from lyceum.exercises import list_exercises, make_exercise
from lyceum.exercises.sheet import Disagreement, Sheet
from lyceum.exercises.topics import clusters, kernels, perceptrons, trees

KINDS = [kind.name for kind in list_exercises()]
SEEDS = range(12)


@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("name", KINDS)
def test_learner_and_hand_agree_and_wrong_answers_can_be_told_apart(name, level):
    # `make_exercise` raises Disagreement where they differ
    for seed in SEEDS:
        exercise = make_exercise(name, seed, level)
        assert exercise.given
        assert exercise.solution
        assert [question.key for question in exercise.questions] == list(
            "abcdefghijklmnopqrstuvwxyz"[: len(exercise.questions)]
        )
        for question in exercise.questions:
            assert question.accepts(question.answer)
            assert question.diagnose(question.answer) is None
            for mistake in question.mistakes:
                assert not question.accepts(mistake.value)
                assert question.diagnose(mistake.value) == mistake.words
            if question.choices:
                assert question.answer in question.choices


@pytest.mark.parametrize("name", KINDS)
def test_same_seed_same_exercise_other_seed_another(name):
    exercises = [make_exercise(name, seed, 2) for seed in SEEDS]
    assert make_exercise(name, 0, 2) == exercises[0]
    asked = {
        (exercise.given, tuple(question.text for question in exercise.questions))
        for exercise in exercises
    }
    assert len(asked) > len(SEEDS) // 2


@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("name", KINDS)
def test_a_choice_cannot_be_guessed_from_the_kind_of_exercise(name, level):
    answers = set()
    for seed in range(20):
        questions = make_exercise(name, seed, level).questions
        answers |= {question.answer for question in questions if question.choices}
        if len(answers) != 1:
            return  # nothing to choose, or two answers that are right at times
    pytest.fail(f"the answer is always {answers}")


def test_there_are_exercises_for_every_chapter():
    chapters = {row.split(".")[0] for kind in list_exercises() for row in kind.syllabus}
    assert chapters == {str(number) for number in range(1, 16)}
    assert len(KINDS) >= 30
    assert len(KINDS) == len(set(KINDS))


def test_an_answer_on_which_learner_and_hand_differ_is_never_printed():
    sheet = Sheet()
    with pytest.raises(Disagreement, match=r"by hand 0.5, by the learner 0.51"):
        sheet.ask("How much?", Fraction(1, 2), 0.51)
    with pytest.raises(Disagreement, match="by hand yes, by the learner no"):
        sheet.choose("Which?", "yes", "no", ["yes", "no"])


def test_mistakes_too_near_to_the_answer_are_left_out():
    sheet = Sheet()
    sheet.ask("How much?", 0.5, 0.5, {"near": 0.5004, "far": 0.7, "the same": 0.7004})
    assert [mistake.words for mistake in sheet.questions[0].mistakes] == ["far"]


def test_entropy_and_gain_of_the_textbook():
    # 64 rows, 29 positive and 35 negative; A1 leaves 21+5- and 8+30-
    before = trees.entropy([29, 35])
    after = (26 * trees.entropy([21, 5]) + 38 * trees.entropy([8, 30])) / 64
    assert round(before, 4) == 0.9937
    assert round(before - after, 4) == 0.2659


def test_machine_of_three_points_of_the_textbook():
    alphas, w, b = kernels._three_points([(1, 2), (-1, 2), (-1, -2)], [-1, -1, 1])
    assert alphas == [0, Fraction(1, 8), Fraction(1, 8)]
    assert w == [0, Fraction(-1, 2)]
    assert b == 0


def test_perceptron_by_hand():
    # one mistake on (1, 2)+, whose update leaves the second row right
    updates = perceptrons._train([(1, 2), (-1, -2)], [1, -1])
    assert updates == [(1, 0, [1, 2, 1])]


def test_lloyd_by_hand():
    rounds = clusters._lloyd([(0, 0), (1, 0), (9, 0), (10, 0)], [(0, 0), (1, 0)])
    assert rounds[-1] == ([0, 0, 1, 1], [(Fraction(1, 2), 0), (Fraction(19, 2), 0)])


@pytest.mark.parametrize("name", ["lms", "least-squares", "backpropagation"])
def test_a_negative_number_behind_a_sign_stands_in_brackets(name):
    for seed in SEEDS:
        for block in make_exercise(name, seed).solution:
            shown = getattr(block, "tex", "")
            assert not re.search(
                r"(?<!\\leftarrow) [-+] -|\\cdot -|-[0-9.]+\^", shown
            ), shown
