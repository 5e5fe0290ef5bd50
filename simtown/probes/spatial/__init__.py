"""Spatial relations as vectors of perplexities: the study of Ghanimifard and Dobnik (2019).

`suites` collects contexts from a corpus, `perplexity` measures the matrix, `spaces`, `wordtests` and
`analyses` say what its vectors know, `spatial_study` is the study, `spatial_tables` has the paper's numbers
beside ours, `judge` asks people, `geometry` compares with the town's geometry.
"""
