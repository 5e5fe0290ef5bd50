"""Questions, answers and captions in English, written and read."""
