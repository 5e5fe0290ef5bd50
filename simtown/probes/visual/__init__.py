"""Colour, shape, material, size and co-occurrence of things: the study of Zhang et al. (2022).

`study` is the study, on the `release` or on distributions that `mine` counted (`mined`). `sizes` ranks nouns
by size, `tuning` and `distill` train models, `tables` and `figures` print what the paper prints, `bridge`
asks about the town's own vehicles.
"""
