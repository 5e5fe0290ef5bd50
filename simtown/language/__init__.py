"""What is said of a scene: relations, questions and answers, captions.

The paper's questions: :mod:`~simtown.language.sampler` draws examples, one at a time
(`simtown/kernels/processor/rejection.hpp`), :mod:`~simtown.language.questions` has their words.

Questions of families are logical forms (:mod:`~simtown.language.forms`):
:mod:`~simtown.language.grammar` reads words, :mod:`~simtown.language.wording` writes them, and
:mod:`~simtown.language.programs` stores forms as numbers. :mod:`~simtown.language.families` draws forms,
:mod:`~simtown.language.asking` streets in which they have their answers, which
:mod:`~simtown.language.evaluate` gives, by what :mod:`~simtown.language.views` sees of scenes.

:mod:`~simtown.language.relations` and :mod:`~simtown.language.solids` say where things stand,
:mod:`~simtown.language.nouns` what they are called, :mod:`~simtown.language.captions` describes whole scenes.
"""
