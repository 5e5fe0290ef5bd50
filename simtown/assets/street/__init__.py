"""Kinds of street things, a function each: buildings, places, trees, furniture, people, ground, clouds."""
