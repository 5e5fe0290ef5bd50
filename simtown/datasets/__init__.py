"""Data sets on disk or behind a URL: made, read, checked and shown.

:class:`simtown.datasets.settings.Settings` says what a data set is made of,
:func:`simtown.generate` makes it, :func:`simtown.open_dataset` returns a
:class:`simtown.datasets.reading.reader.Dataset`, :func:`simtown.datasets.proving.verify.verify` proves it.
`export` writes other formats, `gallery` a page, `audit` looks for shortcuts.
"""
