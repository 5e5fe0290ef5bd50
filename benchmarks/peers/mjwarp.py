"""mujoco_warp's batch renderer on the card that simtown is measured on, where mujoco_warp is installed.

    python benchmarks/peers/mjwarp.py [--worlds 2048] [--sizes 64,128,256] [--seconds 2] [--out peers.csv]

Both draw streets of this town from the same place, colour and depth, the pictures left on the card. They are
not the same pictures:

- simtown: every frame another street, of about 6,000 triangles and all weathers, with four samples a pixel
  and more, soft shadows, reflections, lamplight, clouds, rain and snow, instance ids.
- mujoco_warp: worlds are copies of one model, so every frame shows the same street; its two vehicles stand at
  other places in every world. The same triangles as mesh geoms, one colour a thing, one ray a pixel, one
  light, without and with hard shadows; no weather and no ids. A frame is kinematics, refitting the tree of
  bounds, and rays.

Exit code 3 where mujoco_warp or a card is missing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).parent.parent))
from machine import Rows, machine

from simtown.assets.atlas import atlas
from simtown.assets.palette import MATERIALS
from simtown.bench.render import the_scenes
from simtown.render.instances import instances
from simtown.scenes.camera import views
from simtown.scenes.scene import SceneBatch

RESULT = Path(__file__).parents[1] / "results" / "peers.csv"


def street_model(scene: SceneBatch, size: int) -> str:
    """One street as MJCF: a mesh geom a thing, vehicles on free joints, and the scene's camera."""
    a, (meshes, poses, *_) = atlas(), instances(scene)
    colours = np.array([m.colour for m in MATERIALS])
    assets, fixed, moving = [], [], []
    for slot in np.flatnonzero(meshes[0] >= 0):
        mesh, (x, y, z, c, s, scale) = int(meshes[0, slot]), poses[0, slot].astype(float)
        v, t = slice(*a.vertex_start[mesh : mesh + 2]), slice(*a.triangle_start[mesh : mesh + 2])
        vertices = " ".join(f"{value:.5f}" for value in (a.vertices[v] * scale).ravel())
        faces = " ".join(map(str, (a.triangles[t] - a.vertex_start[mesh]).ravel()))
        assets.append(f'<mesh name="m{slot}" vertex="{vertices}" face="{faces}" inertia="shell"/>')
        colour = " ".join(f"{channel:.3f}" for channel in colours[a.materials[t]].mean(axis=0))
        place = f'pos="{x} {y} {z}" quat="{np.sqrt((1 + c) / 2)} 0 0 {np.copysign(np.sqrt((1 - c) / 2), s)}"'
        geom = f'<geom type="mesh" mesh="m{slot}" rgba="{colour} 1" contype="0" conaffinity="0"'
        if 1 <= slot <= scene.entity.shape[1]:
            moving.append(f"<body {place}><freejoint/>{geom}/></body>")
        else:
            fixed.append(f"{geom} {place}/>")
    view = views(scene.camera, size, size)[0].astype(float)
    slope = 2 * np.degrees(np.arctan(size / 2 / view[12]))
    axes = " ".join(f"{value:.6f}" for value in view[3:9])
    camera = f'<camera pos="{view[0]} {view[1]} {view[2]}" xyaxes="{axes}" fovy="{slope}"/>'
    light = '<light type="directional" dir="0.4 0.5 -0.8" diffuse="0.8 0.8 0.8" castshadow="true"/>'
    bodies = "".join(fixed + moving)
    return f"<mujoco><asset>{''.join(assets)}</asset><worldbody>{light}{camera}{bodies}</worldbody></mujoco>"


def timed(draw: Callable[[], object], seconds: float) -> list[float]:
    """Seconds of each call within so many seconds, at least three, sorted; two before them compile and warm
    up.
    """
    draw(), draw()
    taken: list[float] = []
    while len(taken) < 3 or sum(taken) < seconds:
        begun = perf_counter()
        draw()
        taken.append(perf_counter() - begun)
    return sorted(taken)


def rays(
    mujoco: Any, mjw: Any, wp: Any, worlds: int, size: int, shadows: bool, seconds: float
) -> list[float]:
    """What mujoco_warp takes for all worlds."""
    model = mujoco.MjModel.from_xml_string(street_model(the_scenes(1), size))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    m, d = mjw.put_model(model), mjw.put_data(model, data, nworld=worlds)
    context = mjw.create_render_context(
        model, worlds, (size, size), True, True, False, False, shadows, enabled_geom_groups=[0, 1, 2]
    )
    places = np.tile(data.qpos, (worlds, 1))
    places[:, 0::7] += np.random.default_rng(0).uniform(-3, 3, places[:, 0::7].shape)
    wp.copy(d.qpos, wp.array(places, dtype=float))

    def draw() -> None:
        mjw.kinematics(m, d)
        mjw.camlight(m, d)
        mjw.refit_bvh(m, d, context)
        mjw.render(m, d, context)
        wp.synchronize()

    return timed(draw, seconds)


def streets(worlds: int, size: int, seconds: float) -> list[float]:
    """What simtown takes for as many streets."""
    from simtown.render.cuda.engine import Cuda

    engine, scenes = Cuda(), the_scenes(worlds)
    frames = engine.blank(worlds, size, size)

    def draw() -> None:
        engine.draw_into(scenes, frames.rgb, frames.depth, frames.ids)
        engine.finish()

    return timed(draw, seconds)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--worlds", type=int, default=2048)
    parser.add_argument("--sizes", default="64,128,256")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--out", type=Path, default=RESULT)
    args = parser.parse_args()
    try:
        import mujoco
        import mujoco_warp as mjw
        import warp as wp
    except ImportError as error:
        print(f"mujoco_warp is not on this machine ({error})")
        sys.exit(3)
    if not wp.is_cuda_available():
        print("mujoco_warp finds no card")
        sys.exit(3)
    with Rows(
        args.out, f"{wp.get_device()}, {machine('mujoco', 'mujoco-warp', 'warp-lang', 'numpy')}"
    ) as rows:
        for size in map(int, args.sizes.split(",")):
            for name, taken in (
                ("simtown", streets(args.worlds, size, args.seconds)),
                ("mujoco_warp", rays(mujoco, mjw, wp, args.worlds, size, False, args.seconds)),
                ("mujoco_warp, shadows", rays(mujoco, mjw, wp, args.worlds, size, True, args.seconds)),
            ):
                n = args.worlds
                rows.add(
                    {
                        "engine": name,
                        "size": size,
                        "worlds": n,
                        "repeats": len(taken),
                        "frames_per_second": round(n / median(taken)),
                        "lowest": round(n / taken[-1]),
                        "highest": round(n / taken[0]),
                    }
                )


if __name__ == "__main__":
    main()
