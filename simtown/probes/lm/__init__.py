"""Language models trained here: `simtown lm train`."""
