"""Sentences that say an answer are true in the scene if and only if the answer is right."""

from simtown import open_dataset
from simtown.assets.catalogue import ENTITIES
from simtown.language.meaning.answers import CANNOT_TELL
from simtown.language.meaning.evaluate import KNOWN, evaluate
from simtown.language.meaning.programs import encode, stored
from simtown.language.words import grammar
from simtown.scenes.scene import SceneBatch
from simtown.vlm.conditions import AskedSplit


def holds(example, sentence):
    """Whether a sentence is true in an example's scene; None if that is too close to say."""
    form, _, _ = grammar.parse(ENTITIES, f"Is it true that {sentence}?")
    scene = SceneBatch.of([example.scene])
    visible = example.visible[None, : scene.entity.shape[1]]
    values = evaluate(scene, stored([encode(form)]), visible, example.image.shape[1::-1])
    return bool(values.answer[0]) if values.state[0] == KNOWN else None


def test_a_sentence_is_true_where_its_answer_is_right(towns):
    compared = 0
    for directory in towns:
        for one in AskedSplit(open_dataset(directory), "test"):
            query = one.query()
            assert len(query.statements) == len(query.gold.choices)
            for answer, sentences in zip(query.gold.choices, query.statements, strict=True):
                for sentence in sentences:
                    assert (answer in sentence) or answer in ("yes", "no", "0", "parked", CANNOT_TELL)
                    if not sentence.startswith(one.example.question) and query.gold.answer != CANNOT_TELL:
                        true = holds(one.example, sentence)
                        assert true in (answer == query.gold.answer, None), sentence
                        compared += true is not None
    assert compared > 150
