"""What a question means: forms and programs, nouns and relations, and the evaluator of programs."""
