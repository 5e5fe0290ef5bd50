"""The complete latent state of street scenes, and its random draws.

:class:`simtown.scenes.scene.SceneBatch` holds many scenes as arrays, :class:`simtown.scenes.scene.Scene` one
scene for people. `placement`, `street`, `weather` and `paint` draw their parts,
:class:`simtown.scenes.camera.Camera` looks at them, `silhouette` says what the camera sees, `footprints` how
far things are apart.
"""
