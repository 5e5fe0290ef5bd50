"""What text alone teaches of the world: studies of language models.

A scorer (:func:`simtown.probes.scorers.open_scorer`) answers for any language model.
:mod:`simtown.probes.study` says what a study is, `runner` runs it, `grid` runs many. `physical`, `visual` and
`spatial` are the studies of three papers, `ask` is a table of one's own (`items`, `item_study`), `lm` trains
small language models.
:mod:`simtown.probes.statistics` has the scores and tests that the studies share.
"""
