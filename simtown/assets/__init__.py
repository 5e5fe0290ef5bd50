"""Parts of the town: meshes, colours, and the kinds of vehicles and street things in a fixed order.

:mod:`simtown.assets.catalogue` lists the kinds (`ENTITIES`, `PROPS`) and the version of the world;
:mod:`simtown.assets.mesh` has :class:`simtown.assets.mesh.Mesh` and its parts, :mod:`simtown.assets.palette`
the materials. The kinds themselves are functions in `vehicles` and `street`.
:func:`simtown.assets.atlas.atlas` holds all meshes in flat arrays, as renderers read them.
"""
