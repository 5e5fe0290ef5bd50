"""Spatial relations as vectors of perplexities: the study of Ghanimifard and Dobnik (2019).

`suites` collects contexts from a corpus, `matrix` measures perplexities, `vectors`, `wordtests` and
`clusters` say what they know, `study` is the study and `results` runs it, `judge` asks people,
`town` compares with the town's geometry.
"""
