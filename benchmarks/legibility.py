"""Can the kinds of vehicles be told apart in 128×128 pictures? A small convolutional net tries, from scratch.

    python benchmarks/legibility.py --entities 60 --weather clear --train 40000 --test 12000

Every picture is a full street scene with exactly one vehicle: random street, lane, heading, place along the whole frame,
weather and sun. The net is told the kind, never the place. No training picture is shown twice; the test pictures come from
another seed. The net is tested once, after its last step: nothing is chosen by the test's outcome.

Three views of a picture. "band" (the default) is the whole picture less the rows that never hold a part of a vehicle: the sky
and roofs above, the near kerb below (checked for every picture). "box" is a window of fixed size about the vehicle's box, and
is reported apart. "empty" is a control: the same streets with the vehicle taken out, where the net must be at chance, or
something besides the vehicle gives its kind away. Results go into benchmarks/results/legibility.csv, where a run replaces the
rows of an earlier one with the same entities, weather and view. Needs torch; minutes on one core.
"""

from __future__ import annotations

import argparse
import csv
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from math import sqrt
from pathlib import Path

import numpy as np
import torch
from machine import machine
from torch import nn
from torch.nn import functional as F

from simtown.assets.catalogue import ENTITIES
from simtown.render.raster import Raster
from simtown.scenes.camera import Camera
from simtown.scenes.placement import LANES, draw_poses, framed
from simtown.scenes.scene import SceneBatch
from simtown.scenes.silhouette import boxes
from simtown.scenes.street import draw_street
from simtown.scenes.weather import WEATHERS, draw_weather
from simtown.streams import Stream

SIZE = 128
#: Rows of a picture that may hold a part of a vehicle, and the window (height, width) of the "box" view, pixels.
BAND, WINDOW = (64, 124), (48, 72)
#: Pictures rendered at a time (in the background), and in one step of training.
CHUNK, BATCH = 2048, 64
RESULTS = Path(__file__).parent / "results" / "legibility.csv"
LANE_NAMES = ("near lane, heading right", "far lane, heading left")
COLUMNS = ("entities", "weather", "view", "part", "name", "right", "of", "percent", "low95", "high95", "settings", "machine")


@dataclass
class Pictures:
    """n pictures (n, h, w, 3) uint8, and of each the vehicle's kind, lane and weather: (n,) int64."""

    rgb: np.ndarray
    kind: np.ndarray
    lane: np.ndarray
    weather: np.ndarray


def one_vehicle_scenes(seed: int, split: str, index: np.ndarray, kinds: int, weathers: tuple[str, ...]) -> SceneBatch:
    """The scenes with the numbers `index`; kinds take turns, everything else is random."""
    entity = (index % kinds)[:, None]
    camera = np.tile(Camera().row(), (len(index), 1))
    placement = Stream(seed, split, "placement")
    pose = draw_poses(placement.uniform(index, 3).reshape(-1, 1, 3), entity)
    attempt = 0
    while len(out := np.flatnonzero(~framed(entity, pose, camera))):
        attempt += 1
        pose[out] = draw_poses(placement.uniform(index[out], 3, attempt).reshape(-1, 1, 3), entity[out])
    weather = draw_weather(Stream(seed, split, "weather"), index, weathers)
    street = draw_street(Stream(seed, split, "street"), index, weather.weather)
    paint = np.full(entity.shape, -1, dtype=np.int8)
    return SceneBatch(
        entity.astype(np.int16), pose, paint, *street, weather.weather, weather.intensity, weather.sun, weather.fall_seed, camera
    )


def pictures(raster: Raster, scenes: SceneBatch, view: str) -> Pictures:
    """Render scenes and cut out what the net sees."""
    drawn = replace(scenes, entity=np.full_like(scenes.entity, -1)) if view == "empty" else scenes
    rgb = raster.render(drawn, SIZE, SIZE, geometry=False).rgb
    x0, y0, x1, y1 = boxes(scenes, SIZE, SIZE)[:, 0].T
    if y0.min() < BAND[0] or y1.max() > BAND[1]:
        raise ValueError(f"a vehicle reaches out of rows {BAND}: rows {y0.min():.1f} to {y1.max():.1f}")
    if view != "box":
        seen = rgb[:, BAND[0] : BAND[1]]
    else:
        height, width = WINDOW
        rows = np.clip(((y0 + y1 - height) / 2).astype(int)[:, None] + np.arange(height), 0, SIZE - 1)
        columns = np.clip(((x0 + x1 - width) / 2).astype(int)[:, None] + np.arange(width), 0, SIZE - 1)
        seen = rgb[np.arange(len(rgb))[:, None, None], rows[:, :, None], columns[:, None, :]]
    lane = (scenes.pose[:, 0, 1] > (LANES[0][0] + LANES[1][0]) / 2).astype(np.int64)
    return Pictures(np.ascontiguousarray(seen), scenes.entity[:, 0].astype(np.int64), lane, scenes.weather.astype(np.int64))


def chunks(args: argparse.Namespace, split: str, count: int) -> Iterator[Pictures]:
    """All pictures of a split, the next chunk being rendered while the caller works on this one."""
    weathers = WEATHERS if args.weather == "all" else tuple(args.weather.split(","))
    seed, raster = args.seed + (split == "test"), Raster()

    def make(start: int) -> Pictures:
        index = np.arange(start, min(start + CHUNK, count))
        return pictures(raster, one_vehicle_scenes(seed, split, index, args.entities, weathers), args.view)

    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(make, 0)
        for start in range(CHUNK, count + CHUNK, CHUNK):
            ready = coming.result()
            if start < count:
                coming = pool.submit(make, start)
            yield ready


class Net(nn.Module):
    """Four 3×3 convolutions from half to an eighth of the resolution; the greatest and the mean answer over all places."""

    def __init__(self, kinds: int) -> None:
        super().__init__()

        def layer(before: int, after: int, stride: int) -> nn.Sequential:
            return nn.Sequential(nn.Conv2d(before, after, 3, stride, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU(inplace=True))

        self.body = nn.Sequential(nn.PixelUnshuffle(2), layer(12, 64, 1), layer(64, 96, 2), layer(96, 192, 2), layer(192, 256, 1))
        self.head = nn.Linear(2 * 256, kinds)
        self.to(memory_format=torch.channels_last)

    def forward(self, rgb: torch.Tensor) -> torch.Tensor:
        """(n, kinds) logits of (n, h, w, 3) uint8 pictures."""
        found = self.body(rgb.permute(0, 3, 1, 2).float() / 127.5 - 1.0).float()
        return self.head(torch.cat([found.amax((2, 3)), found.mean((2, 3))], dim=1).to(self.head.weight.dtype))


def train(args: argparse.Namespace) -> Net:
    """A net trained on args.train fresh pictures."""
    torch.manual_seed(args.seed)
    net = Net(args.entities)
    steps = sum(-(-min(CHUNK, args.train - start) // BATCH) for start in range(0, args.train, CHUNK))
    optimiser = torch.optim.AdamW(net.parameters(), weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, max_lr=args.rate, total_steps=steps)
    began, shown = time.perf_counter(), 0
    for number, chunk in enumerate(chunks(args, "train", args.train)):
        right = 0
        for rows in torch.randperm(len(chunk.kind)).split(BATCH):
            rgb, kind = torch.from_numpy(chunk.rgb)[rows], torch.from_numpy(chunk.kind)[rows]
            with torch.autocast("cpu", torch.bfloat16, enabled=args.bf16):
                logits = net(rgb)
            optimiser.zero_grad()
            F.cross_entropy(logits.float(), kind, label_smoothing=0.05).backward()
            optimiser.step()
            schedule.step()
            right += int((logits.argmax(1) == kind).sum())
        shown += len(chunk.kind)
        if number % 5 == 0:
            print(f"{shown:7d} pictures {time.perf_counter() - began:6.0f} s  {right / len(chunk.kind):6.1%}", flush=True)
    return net


def test(args: argparse.Namespace, net: Net) -> tuple[np.ndarray, ...]:
    """Of every test picture its kind, the kind the net names, lane and weather."""
    net.eval()
    parts = []
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=args.bf16):
        for chunk in chunks(args, "test", args.test):
            answer = torch.cat([net(rgb).argmax(1) for rgb in torch.from_numpy(chunk.rgb).split(256)]).numpy()
            parts.append((chunk.kind, answer, chunk.lane, chunk.weather))
    return tuple(np.concatenate(columns) for columns in zip(*parts, strict=True))


def wilson(right: int, of: int, z: float = 1.96) -> tuple[float, float]:
    """95 % confidence interval of a share, after Wilson (1927)."""
    p = right / of
    middle, spread = p + z * z / (2 * of), z * sqrt(p * (1 - p) / of + z * z / (4 * of * of))
    return (middle - spread) / (1 + z * z / of), (middle + spread) / (1 + z * z / of)


def report(kind: np.ndarray, answer: np.ndarray, lane: np.ndarray, weather: np.ndarray) -> list[tuple[str, str, int, int]]:
    """(part, name, right, of) of the whole, each weather, each lane, each kind (worst first), and the most confused pairs.

    A pair "a > b" counts how often kind a was taken for b.
    """
    fine = kind == answer
    rows = [("overall", "top-1", int(fine.sum()), len(fine))]
    rows += [("weather", WEATHERS[w], int(fine[weather == w].sum()), int((weather == w).sum())) for w in np.unique(weather)]
    rows += [("lane", LANE_NAMES[i], int(fine[lane == i].sum()), int((lane == i).sum())) for i in np.unique(lane)]
    kinds = [("kind", ENTITIES[k], int(fine[kind == k].sum()), int((kind == k).sum())) for k in np.unique(kind)]
    rows += sorted(kinds, key=lambda row: row[2] / row[3])
    pairs, counts = np.unique(np.stack([kind, answer])[:, ~fine], axis=1, return_counts=True)
    for i in np.argsort(-counts, kind="stable")[:30]:
        a, b = pairs[:, i]
        rows.append(("pair", f"{ENTITIES[a]} > {ENTITIES[b]}", int(counts[i]), int((kind == a).sum())))
    return rows


def main() -> None:
    """Train, test, print, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entities", type=int, default=60, help=f"how many kinds, most common first (up to {len(ENTITIES)})")
    parser.add_argument("--weather", default="clear", help="'all', or kinds with commas between")
    parser.add_argument("--view", choices=["band", "box", "empty"], default="band", help="what the net sees of the picture")
    parser.add_argument("--train", type=int, default=40_000, help="training pictures, each shown once")
    parser.add_argument("--test", type=int, default=12_000, help="test pictures")
    parser.add_argument("--rate", type=float, default=3e-3, help="greatest learning rate")
    parser.add_argument("--bf16", action=argparse.BooleanOptionalAction, default=True, help="convolve in bfloat16")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)

    began = time.perf_counter()
    rows = report(*test(args, train(args)))
    if args.view == "empty":
        rows = rows[:1]  # of guesses the share of right ones is all there is to say
    minutes = (time.perf_counter() - began) / 60
    settings = f"train {args.train} test {args.test} seed {args.seed} rate {args.rate} bf16 {args.bf16}; {minutes:.1f} min"
    key = [str(args.entities), args.weather, args.view]
    written = []
    for part, name, right, of in rows:
        low, high = wilson(right, of)
        percents = [f"{100 * share:.2f}" for share in (right / of, low, high)]
        written.append([*key, part, name, right, of, *percents, settings, f"{machine('numpy', 'torch')}, {args.threads} threads"])
    kept = []
    if args.out.exists():
        with args.out.open(newline="") as file:
            kept = [row for row in list(csv.reader(file))[1:] if row[:3] != key]
    args.out.parent.mkdir(parents=True, exist_ok=True)
    with args.out.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *kept, *written])
    for row in written:
        if row[3] != "kind" or float(row[7]) < 98:
            print(f"{row[3]:8} {row[4]:45} {row[5]:6} / {row[6]:6} {row[7]:>7} % ({row[8]} to {row[9]})")
    print(f"{settings}\n{args.out}")


if __name__ == "__main__":
    main()
