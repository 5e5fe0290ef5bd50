"""Kinds of vehicles, a function each, which returns a :class:`simtown.assets.mesh.Mesh`."""
