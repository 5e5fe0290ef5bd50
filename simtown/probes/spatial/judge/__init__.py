"""Judgements of how alike spatial relations are, asked of people on a local web page (appendix D)."""
