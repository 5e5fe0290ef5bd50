"""Making questions and the streets that they are true in."""
