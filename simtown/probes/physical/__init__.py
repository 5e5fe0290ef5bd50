"""Objects, properties and affordances: the study of Forbes, Holtzman and Choi (2019).

:func:`simtown.probes.physical.datasets.read` reads the released data, `tasks` makes decisions of it, `models`
answers them, `study` is the study, `published` and `reproduce` print the paper's tables beside ours.
"""
