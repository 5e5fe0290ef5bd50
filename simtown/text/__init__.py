"""Text that language models read: :class:`simtown.text.corpus.Corpus`, the phrases of a file."""
