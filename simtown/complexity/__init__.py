"""Sample complexity: the samples that a model needs for an accuracy, and their growth with its world.

:func:`simtown.complexity.need_report.report` reads finished runs, or anybody's CSV of results, and writes
tables and figures. Nothing here needs PyTorch or the town.
"""
