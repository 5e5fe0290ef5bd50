"""Modules that every other package uses, and that import none of them.

Files and run directories (`files`, `runs`, `packed`, `columns`), everything that comes from others
(:mod:`simtown.core.untrusted`), settings (`options`), draws and arithmetic that are alike everywhere
(:class:`simtown.core.streams.Stream`, `exact`), workers (:class:`simtown.core.pool.Pool`, `processes`,
`cluster`, `stopping`), tables and plots, progress and the terminal (`progress`, `console`, `terminal`), and
extras (:func:`simtown.core.extras.need`).
"""
