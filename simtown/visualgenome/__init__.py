"""Visual Genome: released files read record by record, the paper's cleaning, and counts.

:func:`simtown.visualgenome.prepare.prepare` cleans the statements and writes Parquet; `stats` and `sparsity`
count in it.
"""
