"""Visual Genome: released files read record by record, the paper's cleaning, and counts."""
