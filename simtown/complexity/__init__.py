"""How many samples a model needs for an accuracy, and how that number grows with its world.

:func:`simtown.complexity.need_report.report` reads finished runs, or anybody's CSV of results, and writes
tables and figures. Nothing here needs PyTorch or the town.
"""
