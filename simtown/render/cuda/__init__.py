"""The rasteriser on a graphics card: the processor's pictures, byte for byte, under another organisation.

Five kernels in CUDA C++ (the folder kernels) draw a batch: `setup` (a block a scene) places things and makes
lists of shadows and lights, `arrange` (a block a scene) culls, cuts and shades triangles, `draw` (a block for
every 32 x 128 pixels) fills them in shared memory and makes pixels, `wet` does the latter where the street
mirrors, and `overlay` lays stars, halos, rain and snow over them. Nothing here is imported unless CUDA is
asked for.
"""
