"""What learns: models, fitting, grids of runs, and the sample complexity measured from them."""
