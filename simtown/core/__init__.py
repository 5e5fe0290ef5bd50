"""What every other package uses, and what imports none of them.

Files and run directories (`files`, `runs`, `tables`, `plots`), files of strangers (`arrays`, `columns`,
`pictures`, `quoting`, `html`), draws and arithmetic that are alike everywhere
(:class:`simtown.core.streams.Stream`, `exact`), workers (:class:`simtown.core.pool.Pool`), progress and the
terminal (`progress`, `console`, `terminal`), extras (:func:`simtown.core.extras.need`) and signals
(`stopping`).
"""
