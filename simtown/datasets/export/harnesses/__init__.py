"""Exports for the harnesses and trainers of vision-language models: a small module each.

A harness gets each question with its instruction, and scores the reply by the rule of the gym: its folder
carries a copy of :mod:`simtown.language.words.replies`. No task needs a judge, or anything from the network.
"""
