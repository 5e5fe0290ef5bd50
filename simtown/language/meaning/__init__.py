"""The meaning of questions: forms and programs, nouns and relations, and the evaluator of programs."""
