"""The look of a scene: scenes as placed meshes, and the renderers that draw them.

:class:`simtown.render.frames.Renderer` is the contract, :class:`simtown.render.frames.Frames` its result.
:class:`simtown.render.raster.Raster` draws on the processor and is the reference; `cuda` draws the same
pixels on a graphics card; :class:`simtown.render.opengl.OpenGL` draws the same meshes with pyrender.
:func:`simtown.render.renderers.make_renderer` makes one by name.
"""
