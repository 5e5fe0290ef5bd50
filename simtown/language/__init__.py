"""Language about scenes: relations, questions and answers, captions.

The paper's questions: :mod:`~simtown.language.asking.paper` draws examples, one at a time
(`simtown/kernels/processor/rejection.hpp`), :mod:`~simtown.language.words.questions` has their words.

Questions of families are logical forms (:mod:`~simtown.language.meaning.programs`):
:mod:`~simtown.language.words.grammar` reads words, :mod:`~simtown.language.words.wording` writes them, and
:mod:`~simtown.language.meaning.programs` stores forms as numbers. :mod:`~simtown.language.asking.families`
draws forms, :mod:`~simtown.language.asking.search` streets in which they have their answers, which
:mod:`~simtown.language.meaning.evaluate` gives, by what :mod:`~simtown.language.meaning.views` sees of
scenes.

:mod:`~simtown.language.meaning.relations` and :mod:`~simtown.language.meaning.solids` say where things stand,
:mod:`~simtown.language.meaning.nouns` what they are called, :mod:`~simtown.language.words.captions` describes
whole scenes.
"""
