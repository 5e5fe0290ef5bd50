"""Proving data sets: everything stored is derived again and compared."""
