"""What is said of a scene: relations, questions and answers, captions.

:func:`simtown.language.sampler.sample` draws examples by a :class:`simtown.language.sampler.Recipe`, one at a
time (`simtown/kernels/processor/rejection.hpp`). :mod:`simtown.language.relations` holds the relations and
their truth, :mod:`simtown.language.questions` their words, :mod:`simtown.language.captions` descriptions of
whole scenes.
"""
