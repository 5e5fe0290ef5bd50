"""The rasteriser on a graphics card: the CPU's arithmetic (render/fill.py, shading.py, light.py, effects.py) under another organisation.

:class:`~simtown.render.cuda.engine.Cuda` is the engine. Two kernels draw a batch, a third lays halos, rain and snow over it:
`arrange` (a block a scene) places, culls and shades triangles; `draw` (a block a band of rows) fills them into shared memory and
makes pixels. Nothing here is imported unless CUDA is asked for.
"""
