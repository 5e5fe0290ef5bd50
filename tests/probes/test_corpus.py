"""Region descriptions as text: every release and packing, tokens, and the counts of the published part."""

import gzip
import lzma
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import vg_files
from simtown.core.files import DamagedError
from simtown.probes.corpus import Corpus, tokenise, vocabulary
from simtown.visualgenome.clean import folded


@pytest.mark.parametrize("packing", ["", ".zip", ".gz"])
@pytest.mark.parametrize("version", vg_files.VERSIONS)
def test_phrases_of_every_release(released, plain_json, version, packing):
    path = released("region_descriptions", version, packing)
    corpus = Corpus(path)
    expected = [region["phrase"] for image in plain_json(path) for region in image["regions"]]
    assert list(corpus) == list(corpus) == expected  # as often as one likes
    assert list(corpus.sentences()) == [tokenise(phrase) for phrase in expected]


@pytest.mark.parametrize("pack", [lambda b: b, gzip.compress, lzma.compress])
def test_text_with_a_phrase_a_line(tmp_path, pack):
    path = tmp_path / "phrases"
    text = "\ufeffthe clock is green\n\n  two   spaces \r\nu\u0308nder\n[a bracket\n . \n"
    path.write_bytes(pack(text.encode()))
    corpus = Corpus(path)
    assert list(corpus) == ["the clock is green", "two spaces", "ünder", "[a bracket", "."]
    tokens = [["the", "clock", "is", "green"], ["two", "spaces"], ["ünder"], ["a", "bracket"]]
    assert list(corpus.sentences()) == tokens


TOKENS = {"A man's T-shirt, 2.5 feet up.": "a man's t-shirt , 2.5 feet up .", "": "", "'stop'": "' stop '"}
TOKENS |= {"3rd cup/plate": "3rd cup / plate", "10:45 jalapen\u0303o H\u0331": "10:45 jalapeño ẖ"}


@pytest.mark.parametrize("phrase", TOKENS)
def test_tokens(phrase):
    tokens = TOKENS[phrase].split()
    assert tokenise(phrase, punctuation=True) == tokens
    assert tokenise(phrase) == [t for t in tokens if t[0].isalnum()]


@given(st.text(max_size=40))
def test_tokens_lose_nothing_but_space(phrase):
    whole = "".join(folded(phrase).split())
    assert "".join(tokenise(phrase, punctuation=True)) == whole
    assert all(token and not token.isspace() for token in tokenise(phrase))


@given(st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=5), max_size=20), st.integers(1, 6))
def test_vocabulary(sentences, least):
    counts = Counter(token for tokens in sentences for token in tokens)
    words = vocabulary(sentences, least)
    assert words == {t: n for t, n in counts.items() if n >= least}
    assert list(words.values()) == sorted(words.values(), reverse=True)


def test_damage(released, tmp_path):
    whole = released("region_descriptions").read_bytes()
    path = tmp_path / "region_descriptions.json"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DamagedError, match="is damaged"):
        list(Corpus(path))
    corpus = Corpus(path, skip_bad=True)
    assert len(list(corpus)) > 100
    assert corpus.bad == 1


@pytest.mark.slow
def test_the_published_part(reference_data):
    """Lines as counted by others, exactly; tokens and common words nearly: others cut words otherwise."""
    corpus = Corpus(reference_data("vg-region-descriptions/vg_description_corpus_2M.txt.xz"))
    split = list(corpus.sentences())
    assert len(split) == 550_084 - 158  # without empty lines
    assert max(map(len, split)) == 25
    assert sum(map(len, split)) == pytest.approx(2_900_000, rel=0.03)
    assert len(vocabulary(split)) == pytest.approx(16_605, rel=0.06)
    common = vocabulary(split, 20)
    assert len(common) == pytest.approx(3_232, rel=0.005)
    assert sum(common.keys() >= set(tokens) for tokens in split) == pytest.approx(508_441, rel=0.005)
