"""The card's structs and numbers are the processor's: job.cuh against layout.py and others."""

import numpy as np
import pytest

pytest.importorskip("ziglang", reason="needs ziglang: pip install '.[dev]'")

from simtown.assets import palette
from simtown.assets.atlas import NO_PAINT, atlas
from simtown.bench.engines import the_scenes
from simtown.render import light, mesh_tables, raster
from simtown.render.cuda import layout
from simtown.render.cuda.card import Launch
from simtown.render.cuda.compiler import source
from simtown.render.instances import instances
from simtown.render.light import lights
from simtown.scenes import camera
from tests.cuda.host_card import HostCard

LIGHT = (
    *("SUN_DIRECTION", "SUN", "SKY_LIGHT", "BOUNCE", "FOG", "TOP", "HORIZON", "VEIL", "VEHICLE_SUN"),
    *("DENSITY", "THICK", "SNOW", "WET", "SHADOW", "CONTACT", "FALL", "AMOUNT", "CLOUD_LIGHT"),
    *("COVER", "STARS"),
)
KINDS = (
    *("MATTE", "GLASS", "WINDOW", "HEADLAMP", "TAILLAMP", "GLOW", "TINT_WALL", "TINT_ROOF", "LEAF"),
    *("GROUND", "ROAD", "TINT_CLOTH", "CLOUD"),
)
NUMBERS = {
    **{name: getattr(light, name) for name in LIGHT},
    "LAMPS_ON": light.LAMPS,
    "LIGHT_COLUMNS": light.COLUMNS,
    **{name: getattr(palette, name) for name in KINDS},
    "TINTS": palette.TINTS,
    **{name: getattr(mesh_tables, name) for name in ("CASTS", "STANDS", "VEHICLE")},
    **{name: getattr(raster, name) for name in ("TAG_BITS", "SKY_LEVELS", "MOST_TRIANGLES")},
    **{name: getattr(layout, name) for name in ("LIGHT_STRIDE", "VIEW_STRIDE", "MOST_EDGES")},
    "NEAR": camera.NEAR,
}


def compiled_values(expressions: list[str]) -> list[float]:
    lines = "\n".join(f"out[{i}] = (double)({expression});" for i, expression in enumerate(expressions))
    kernel = f'extern "C" __global__ void k(double* out) {{ if (threadIdx.x == 0) {{ {lines} }} }}'
    card = HostCard(1, sources={"k": source("setup") + kernel})
    out = card.memory.empty((len(expressions),), np.float64)
    card.launch(card.kernel("k"), Launch((1, 1, 1), 32), card.stream(), card.argument(out.ctypes.data))
    return out.tolist()


def test_structs_are_laid_out_alike():
    ours = {f"sizeof({struct})": kind.itemsize for struct, kind in layout.STRUCTS.items()}
    for struct, kind in layout.STRUCTS.items():
        ours |= {f"(u64)&(({struct}*)0)->{name}": kind.fields[name][1] for name in kind.names}
    assert dict(zip(ours, compiled_values(list(ours)), strict=True)) == ours


def test_numbers_are_the_processors():
    compiled = dict(zip(NUMBERS, compiled_values(list(NUMBERS)), strict=True))
    assert compiled == {name: float(number) for name, number in NUMBERS.items()}


def test_room_suffices_for_every_scene():
    """Bounds go by kind of thing and by weather; the truth is in the placed meshes and the light."""
    batch = the_scenes(300)
    size = layout.needs().size(batch, 128, 128)
    meshes = instances(batch)[0]
    for start, most in ((atlas().triangle_start, size.most_faces), (atlas().lamp_start, size.most_lamps)):
        assert np.append(np.diff(start), 0)[meshes].sum(axis=1).max() <= most
    rows = lights(batch.weather, batch.intensity, batch.sun)
    wet = rows[:, light.WET] > np.float32(0.2)
    layered = (rows[:, [light.LAMPS, light.AMOUNT, light.STARS]] > 0).any(axis=1)
    for i in range(len(batch)):
        own = layout.needs().size(batch[np.array([i])], 128, 128)
        assert own.wet >= wet[i]
        assert own.layered >= layered[i]


def test_the_town_is_whole():
    arrays, numbers = layout.town()
    a = atlas()
    assert np.array_equal(arrays["vertices"][:, :3], a.vertices)
    assert np.array_equal(arrays["triangles"][:, :3], a.triangles)
    extra = arrays["triangles"][:, 3]
    assert np.array_equal(extra & 0xFF, a.materials)
    assert np.array_equal(extra >> 8 & 0xFF, a.parts)
    assert np.array_equal(extra >> 16, a.body)
    assert set(numbers) == set(layout.TOWN.names) - set(arrays)
    assert all(values.flags.c_contiguous for values in arrays.values())
    assert arrays["in_pose"].min() >= numbers["entities"]
    assert arrays["in_pose"].max() < numbers["meshes"] - 1
    assert set(arrays["own_paint"][numbers["entities"] :]) == {NO_PAINT}
