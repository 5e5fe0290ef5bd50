"""The sentences that say an answer, for models that compare pictures with sentences."""

from contextlib import suppress
from functools import lru_cache

from simtown.assets.entities import ENTITIES, with_article
from simtown.language.meaning.answers import CANNOT_TELL
from simtown.language.meaning.programs import Form
from simtown.language.meaning.relations import RELATIONS
from simtown.language.words import grammar, wording

#: The relation that holds where another one does not.
_MIRRORED = {
    one.name: other.name
    for one in RELATIONS
    for other in RELATIONS
    if (one.axis, one.sign) == (other.axis, -other.sign)
}
_LANES = {"near lane": "in the near lane", "far lane": "in the far lane", "parked": "parked at the kerb"}


@lru_cache(maxsize=4096)
def statements(question: str, kind: str, choices: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """For each answer the sentences that say it: one, and for "no" to a relation its negation and its mirror.

    "Is a bus left of a taxi?" has "a bus is to the left of a taxi" for yes, and for no "a bus is not to the
    left of a taxi" and "a bus is to the right of a taxi". What has no sentence of its own is the question
    with its answer: "How far is the bus from the taxi? 5 m."

    Args:
        question: a question of a data set.
        kind: the type of its answer, a key of :data:`simtown.language.meaning.answers.ANSWERS`.
        choices: the answers.
    """
    form = None
    with suppress(grammar.QuestionError):
        form, _, _ = grammar.parse(ENTITIES, question)
    return tuple(
        (state(form, answer) if answer != CANNOT_TELL else ()) or (f"{question} {answer}.",)
        for answer in choices
    )


def state(form: Form | None, answer: str) -> tuple[str, ...]:
    """The sentences that say an answer to a question; of "no" its negation, then its mirror. () if it has
    none.
    """
    match form and (form.name, *form.parts):
        case "holds", subject, test if answer in ("yes", "no") and subject.name in ("a", "the"):
            tests = [test] if answer == "yes" else [Form("not", (test,))]
            if answer == "no" and test.name == "related" and test.parts[0] in _MIRRORED:
                tests.append(Form("related", (_MIRRORED[test.parts[0]], *test.parts[1:])))
            return tuple(f"{wording.phrase(subject)} is {wording.predicate(own)}" for own in tests)
        case "exist", things if answer in ("yes", "no"):
            name = wording.noun(things)
            return (f"there is {with_article(name) if answer == 'yes' else f'no {name}'}",)
        case "count", things if answer.isdecimal():
            many = wording.noun(things, many=answer != "1")
            return (f"there {'is' if answer == '1' else 'are'} {answer if answer != '0' else 'no'} {many}",)
        case "query", "colour", thing:
            return (f"{wording.phrase(thing)} is {answer}",)
        case "query", "lane", thing if answer in _LANES:
            return (f"{wording.phrase(thing)} is {_LANES[answer]}",)
        case "query", "direction", thing if answer in wording.DIRECTIONS:
            return (f"{wording.phrase(thing)} is {wording.DIRECTIONS[answer]}",)
        case "query", ("kind" | "group"), thing if answer != "other":
            return (f"{wording.phrase(thing)} is {with_article(answer)}",)
    return ()
