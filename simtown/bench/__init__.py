"""What users measure on their own machines: `simtown bench`."""
