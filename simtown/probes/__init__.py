"""What text alone teaches of the world: studies of language models.

A scorer (:func:`simtown.probes.scorers.opening.open_scorer`) answers for any language model. A study is a
value (:class:`simtown.probes.study.Study`), and :func:`simtown.probes.study.run` runs it. `physical`,
`visual` and `spatial` are the studies of three papers, `item_study` is for tables of your own.
`items`, `elicit`, `measures`, `report`, `reproduce` and `figures` are what they share. `grid` runs many
studies, `lm` trains small models.
"""
