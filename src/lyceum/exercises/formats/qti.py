"""Exercises as an IMS QTI 2.1 content package: a zip with one item per exercise.

Numbers are accepted within their tolerance, words are choices; every question is worth one point.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

from lyceum.exercises.exercise import Exercise
from lyceum.exercises.formats.html import blocks_as_html, inline
from lyceum.exercises.formats.markdown import question_text
from lyceum.exercises.sheet import ExerciseQuestion

_ITEM = "http://www.imsglobal.org/xsd/imsqti_v2p1"
_PACKAGE = "http://www.imsglobal.org/xsd/imscp_v1p1"
_MATH = "http://www.w3.org/1998/Math/MathML"
_DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'


def as_qti(exercises: Iterable[Exercise]) -> bytes:
    """The package; the same exercises give the same bytes."""
    items = [(f"{exercise.name}-{exercise.seed}", exercise) for exercise in exercises]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        _write(archive, "imsmanifest.xml", _manifest([name for name, _ in items]))
        for name, exercise in items:
            _write(archive, f"{name}.xml", as_item(name, exercise))
    return packed.getvalue()


def _write(archive: zipfile.ZipFile, name: str, text: str) -> None:
    # a fixed date, so that the package depends on the exercises only
    archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), text)


def _manifest(names: list[str]) -> str:
    resources = "".join(
        f'<resource identifier="res-{name}" type="imsqti_item_xmlv2p1" href="{name}.xml">'
        f'<file href="{name}.xml"/></resource>'
        for name in names
    )
    return (
        f'{_DECLARATION}<manifest xmlns="{_PACKAGE}" identifier="lyceum-exercises">'
        "<metadata><schema>QTIv2.1 Package</schema><schemaversion>1.0.0</schemaversion>"
        f"</metadata><organizations/><resources>{resources}</resources></manifest>\n"
    )


def as_item(identifier: str, exercise: Exercise) -> str:
    """One `assessmentItem` with an interaction per question."""
    questions = exercise.questions
    declarations = "".join(map(_declaration, questions))
    body = "".join(map(_interaction, questions))
    conditions = "".join(map(_condition, questions))
    return (
        f'{_DECLARATION}<assessmentItem xmlns="{_ITEM}" identifier={quoteattr(identifier)} '
        f'title={quoteattr(exercise.title)} adaptive="false" timeDependent="false">'
        f"{declarations}"
        '<outcomeDeclaration identifier="SCORE" cardinality="single" baseType="float">'
        "<defaultValue><value>0</value></defaultValue></outcomeDeclaration>"
        f"<itemBody><div>{_with_namespace(blocks_as_html(exercise.given))}</div>{body}"
        f"</itemBody><responseProcessing>{conditions}</responseProcessing>"
        "</assessmentItem>\n"
    )


def _name(question: ExerciseQuestion) -> str:
    return f"RESPONSE_{question.key}"


def _declaration(question: ExerciseQuestion) -> str:
    if question.choices:
        kind = "identifier"
        value = _choice_name(question, str(question.answer))
    else:
        kind = "float"
        value = f"{question.answer:.9g}"
    return (
        f'<responseDeclaration identifier="{_name(question)}" cardinality="single" '
        f'baseType="{kind}"><correctResponse><value>{escape(value)}</value></correctResponse>'
        "</responseDeclaration>"
    )


def _choice_name(question: ExerciseQuestion, choice: str) -> str:
    return f"CHOICE_{question.choices.index(choice) + 1}"


def _interaction(question: ExerciseQuestion) -> str:
    if not question.choices:
        return (
            f"<div><p>{_with_namespace(inline(question_text(question)))} "
            f'<textEntryInteraction responseIdentifier="{_name(question)}" '
            'expectedLength="12"/></p></div>'
        )
    choices = "".join(
        f'<simpleChoice identifier="{_choice_name(question, choice)}">{escape(choice)}'
        "</simpleChoice>"
        for choice in question.choices
    )
    return (
        f'<choiceInteraction responseIdentifier="{_name(question)}" shuffle="false" '
        f'maxChoices="1"><prompt>{_with_namespace(inline(question.text))}</prompt>{choices}'
        "</choiceInteraction>"
    )


def _condition(question: ExerciseQuestion) -> str:
    given = f'<variable identifier="{_name(question)}"/>'
    if question.choices:
        test = f'<match>{given}<correct identifier="{_name(question)}"/></match>'
    else:
        # two comparisons: there are players that ignore the tolerance of `equal`
        answer = float(question.answer)
        least = answer - question.tolerance
        most = answer + question.tolerance
        test = f"<and><gte>{given}{_number(least)}</gte><lte>{given}{_number(most)}</lte></and>"
    return (
        f'<responseCondition><responseIf>{test}<setOutcomeValue identifier="SCORE"><sum>'
        '<variable identifier="SCORE"/><baseValue baseType="float">1</baseValue></sum>'
        "</setOutcomeValue></responseIf></responseCondition>"
    )


def _number(value: float) -> str:
    return f'<baseValue baseType="float">{value:.9g}</baseValue>'


def _with_namespace(html: str) -> str:
    """Mathematics names its namespace; tables have no `scope`, which QTI does not know."""
    named = re.sub(r"<math\b", f'<math xmlns="{_MATH}"', html)
    return named.replace(' scope="col"', "")
