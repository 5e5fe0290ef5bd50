"""Motion: falling, braking, following, colliding, walking, as mechanics has it; and the same every time."""

import copy
import pickle

import numpy as np
import pytest

from simtown.assets.atlas import atlas
from simtown.assets.catalogue import ENTITIES
from simtown.assets.street.road_surface import PAVEMENT_EDGE, ROAD_EDGE
from simtown.scenes.footprints import depths, number, separation
from simtown.scenes.scene import Prop, Scene, Vehicle
from simtown.town import Town
from simtown.town.motion.physics import DENSITY, GRAVITY, GRIP, STROLL, _Simulation
from simtown.town.motion.traffic import traffic

pytest.importorskip(
    "pybullet", reason="needs pybullet: pip install '.[physics]' under Python 3.11 on Linux x86-64"
)


def road(*cars, props=(), speeds=()):
    """A bare road with cars and props, of which the first aim at some speeds."""
    town = Town.from_scene(Scene([Vehicle(*c) for c in cars], list(props)))
    for thing, speed in zip(town.things, speeds, strict=False):
        town.drive(thing, speed)
    return town


def size(thing):
    return np.diff(atlas().bounds[number(thing.kind)].astype(float), axis=0)[0]


def first_touch(town):
    """The contacts of the first tick in which anything touches, and the speeds along x just before."""
    while town.time < 3:
        speeds = np.array([t.velocity[0] for t in town.things])
        contacts = town.step(1 / 60)
        if contacts:
            return contacts, speeds
    raise AssertionError("nothing touches")


def poses(town):
    return np.array([(t.x, t.y, t.z, t.yaw, *t.velocity) for t in town.things])


def test_what_stands_keeps_standing():
    town = Town.random(seed=2)
    town.place("man", on=town.place("flatbed truck", x=60.0))
    before = poses(town)
    assert [(c.first, c.second) for c in town.step(2.0)] == [("flatbed truck", "man")]
    assert town.time == 2.0
    assert np.abs(poses(town)[:, :4] - before[:, :4]).max() < 0.02


def test_what_is_in_the_air_falls_by_gravity_and_lands():
    people = [Prop("man", 20.0, 0.0, 10.0), Prop("woman", -1.0, -1.85, 4.0)]
    town = road(("flatbed truck", 0.0, -1.85), props=people)
    town.step(1.0)
    man = town["man"]
    assert man.z == pytest.approx(10.0 - GRAVITY / 2, abs=0.1)
    assert man.velocity[2] == pytest.approx(-GRAVITY, rel=0.01)
    touched = town.step(1.0)
    assert man.z == pytest.approx(0.0, abs=0.02)
    assert any({c.first, c.second} == {"woman", "flatbed truck"} for c in touched)
    truck, woman = town["flatbed truck"], town["woman"]
    assert woman.z == pytest.approx(truck.top(woman.x, woman.y), abs=0.06)  # on its bed
    assert town.ask("Is the woman on the flatbed truck?")


@pytest.mark.parametrize("kind", ENTITIES[::4])
def test_bodies_fill_their_outlines(kind):
    """Rays from above meet a vehicle's body wherever they meet its mesh's solid parts, and never outside its
    outline.
    """
    town = road((kind, 0.0, 0.0))
    town.step(0.01)
    physics, car = town._physics, town.vehicles[0]
    low, high = car.outline.min(axis=0) - 0.3, car.outline.max(axis=0) + 0.3
    points = np.random.default_rng(0).uniform(low, high, (150, 2))
    rays = physics._bullet.rayTestBatch([[*p, 9.0] for p in points], [[*p, 0.05] for p in points])
    met = np.array([r[0] == physics._moving[0].number for r in rays])
    over = np.array([np.isfinite(car.top(x, y)) for x, y in points])
    assert (met == over).mean() > 0.85
    assert not met[depths(points, car.outline) < -0.05].any()


def test_a_car_alone_reaches_its_speed_and_keeps_its_line():
    town = road(("sedan", -50.0, -2.05), speeds=[8.0])
    sedan = town["sedan"]
    town.step(15.0)
    assert sedan.velocity[0] == pytest.approx(8.0, abs=0.2)
    assert sedan.y == pytest.approx(-2.05, abs=0.03)
    assert sedan.yaw == pytest.approx(0.0, abs=0.01)
    town.drive(sedan, 0.0)
    x, speed = sedan.x, sedan.velocity[0]
    town.step(4.0)
    assert abs(sedan.velocity[0]) < 0.01
    assert sedan.x - x == pytest.approx(speed**2 / (2 * GRIP * GRAVITY), rel=0.1)  # what friction allows


@pytest.mark.parametrize("turned", [-0.4, 0.4, 1.2])
@pytest.mark.parametrize(("kind", "far"), [("sedan", False), ("bicycle", True), ("city bus", False)])
def test_a_driver_steers_back_along_the_street(kind, turned, far):
    """Stanley's rule brings a vehicle to its line from any side, which needs torque."""
    side, lane = (np.pi, 1.85) if far else (0.0, -1.85)
    town = road((kind, 0.0, lane, side + turned), speeds=[6.0])
    town.step(25.0)
    vehicle = town[kind]
    assert vehicle.y == pytest.approx(lane, abs=0.05)
    assert np.cos(vehicle.yaw - side) > 0.999
    assert vehicle.velocity[0] * np.cos(side) > 5.5


def test_a_walker_turns_to_where_it_walks():
    for turn, way in ((0.3, 1), (-0.3, -1)):
        town = road(props=[Prop("man", 0.0, 5.6)])
        man = town.drive("man", 1.4)
        town.turn(man, turn)
        town.step(8.0)
        assert man.velocity[0] * way > 1.3
        assert np.cos(man.front - np.arctan2(man.velocity[1], man.velocity[0])) > 0.99
        assert man.y == pytest.approx(STROLL, abs=0.2)


@pytest.mark.parametrize("kind", ["sedan", "city bus", "motorcycle"])
def test_friction_ends_the_spin_of_what_is_parked(kind):
    """Friction at the radius of gyration: the spin w ends after w² k / (2 GRIP g) radians."""
    town = road((kind, 0.0, 0.0))
    thing = town[kind]
    thing.spin = 2.0
    town.step(3.0)
    gyration = np.hypot(*size(thing)[:2]) / np.sqrt(12)
    assert abs(thing.spin) < 1e-3
    assert thing.yaw == pytest.approx(4.0 * gyration / (2 * GRIP * GRAVITY), rel=0.1)


@pytest.mark.parametrize("aside", [-0.9, -0.5, 0.5, 0.9])
def test_a_hit_beside_the_middle_spins_both(aside):
    """The impulse's torque about each car's middle has the sign of the arm: both turn towards the gap."""
    town = road(("sedan", -8.0, aside), ("taxi", 0.0, 0.0))
    sedan, taxi = town.things
    sedan.velocity = (12.0, 0.0, 0.0)
    (hit, *_), _ = first_touch(town)
    impulse = hit.impulse
    assert sedan.yaw == pytest.approx(0.0, abs=0.05)
    for thing, push in ((sedan, -impulse), (taxi, impulse)):
        arm = hit.point[1] - thing.y
        length, width, height = size(thing)
        inertia = DENSITY * length * width * height * (length**2 + width**2) / 12
        assert thing.spin * -np.sign(arm * push) > 0.1
        assert abs(thing.spin) < abs(push) * (width / 2) / inertia * 1.1


@pytest.mark.parametrize("ahead", [("fire truck", 30.0, -1.85), ("tram", 35.0, -1.6)])
def test_a_car_brakes_for_one_that_stands(ahead):
    town = road(("sedan", -20.0, -1.85), ahead, speeds=[12.0])
    assert town.step(20.0) == []
    sedan = town["sedan"]
    gap = separation(sedan.outline, town[ahead[0]].outline)
    assert 1.5 < gap < 3.5
    assert abs(sedan.velocity[0]) < 0.1


def test_a_car_brakes_for_a_person_on_the_road_and_follows_a_slower_one():
    town = road(("sedan", -30.0, -1.85), props=[Prop("man", 10.0, -1.85)], speeds=[10.0])
    assert town.step(15.0) == []
    assert town["sedan"].velocity[0] < 0.1
    town = road(("sports car", -30.0, -1.85), ("tractor", 0.0, -1.85), speeds=[14.0, 5.0])
    for _ in range(60):
        assert town.step(0.5) == []
    assert town["sports car"].velocity[0] == pytest.approx(5.0, abs=0.2)


def test_collisions_keep_momentum_and_are_reported():
    town = road(("sedan", -10.0, -1.85), ("taxi", 0.0, -1.85))
    sedan, taxi = town.things
    sedan.velocity = (12.0, 0.0, 0.0)
    contacts, before = first_touch(town)  # both brake all the while: look just before and just after
    contacts += town.step(1 / 60)
    after = np.array([t.velocity[0] for t in town.things])
    assert {contacts[0].first, contacts[0].second} == {"sedan", "taxi"}
    assert abs(contacts[0].point[0] - (sedan.outline[:, 0].max() + taxi.outline[:, 0].min()) / 2) < 0.3
    mass = np.array([DENSITY * np.prod(size(t)) for t in town.things])
    tyres = 1.01 * mass * GRIP * GRAVITY * 2 / 60  # newton seconds that each can take in two ticks
    assert after[1] > 1.0 > before[1]
    assert -1.0 <= mass @ before - mass @ after <= tyres.sum()
    impulse, gained, lost = (
        sum(c.impulse for c in contacts),
        mass[1] * after[1],
        mass[0] * (before - after)[0],
    )
    assert gained - 1.0 <= impulse <= gained + tyres[1]
    assert lost - tyres[0] <= impulse <= lost + 1.0


def test_a_car_that_is_hit_from_the_side_skids():
    town = road(("sedan", -9.0, -1.85), ("taxi", 0.0, -0.6, np.pi / 2))
    town["sedan"].velocity = (14.0, 0.0, 0.0)
    assert any({c.first, c.second} == {"sedan", "taxi"} for c in town.step(3.0))
    assert town["taxi"].x > 0.5
    assert abs(town["taxi"].velocity[0]) < 0.2


def test_buildings_do_not_move():
    town = road(("monster truck", -12.0, 11.0), props=[Prop("cottage", 0.0, 11.0)])
    town["monster truck"].velocity = (15.0, 0.0, 0.0)
    assert town.step(4.0)
    assert (town["cottage"].x, town["cottage"].y) == (0.0, 11.0)
    assert town["monster truck"].x < 0


def test_people_walk_on_the_sidewalk_and_pass_each_other():
    man, woman = Prop("man", -8.0, 5.0, yaw=np.pi / 2), Prop("woman", 8.0, 5.0, yaw=-np.pi / 2)
    furniture = [Prop("mailbox", 0.0, 5.6), Prop("street lamp", 3.0, 4.1)]
    town = road(props=[man, woman, *furniture], speeds=[1.4, 1.2])
    man, woman = town["man"], town["woman"]
    for _ in range(30):
        town.step(0.5)
        assert 3.7 < man.y < 6.9
        assert 3.7 < woman.y < 6.9
        assert separation(man.outline, woman.outline) > -0.02
    assert man.x > 5.0
    assert woman.x < -2.0


@pytest.mark.parametrize("side", [0.0, np.pi])
@pytest.mark.parametrize("kind", ["mailbox", "bench", "oak", "bus shelter", "woman"])
def test_a_walker_goes_round_what_stands_on_its_line(kind, side):
    town = road(props=[Prop("man", -6.0 * np.cos(side), STROLL), Prop(kind, 0.0, 5.0)])
    man = town["man"]
    town.turn(man, side - man.front)
    town.drive(man, 1.4)
    for _ in range(90):
        town.step(0.1)
        assert ROAD_EDGE < man.y < PAVEMENT_EDGE + 0.2
        assert separation(man.outline, town[kind].outline) > 0
    assert man.x * np.cos(side) > 3.0


def test_a_walker_stops_before_what_leaves_no_way():
    town = road(props=[Prop("man", -6.0, 5.0), *(Prop("mailbox", 0.0, y) for y in np.arange(0.0, 10.0, 0.8))])
    man = town["man"]
    town.turn(man, -man.front)
    town.drive(man, 1.4)
    assert town.step(12.0) == []
    assert np.linalg.norm(man.velocity) < 0.1
    assert -2.0 < man.x < -0.5


def walking(seed):
    """A street full of traffic on which everybody walks."""
    town = traffic(seed)
    for vehicle in town.vehicles:
        town.drive(vehicle, vehicle.pace)  # for good
    for k, person in enumerate(t for t in town.things if t.group == "person"):
        town.drive(person, 1.0 + 0.1 * (k % 8))
    return town


@pytest.mark.parametrize("seed", [7, pytest.param(14, marks=pytest.mark.slow)])
def test_nobody_is_stuck_on_a_random_street(seed):
    town = walking(seed)
    town.step(9.0)
    people = [t for t in town.things if t.group == "person"]
    before = [t.x for t in people]
    town.step(5.0)
    for person, x in zip(people, before, strict=True):
        assert abs(person.x - x) > 0.2 * 5.0 * person.pace


def test_towns_that_nobody_holds_take_no_memory():
    """A simulation has 34 MB, which Python's garbage collector does not see."""
    for _ in range(20):
        road(("sedan", 0.0, -1.85), speeds=[6.0]).step(0.1)
    assert len(_Simulation.living) <= 8


def test_the_same_town_moves_the_same():
    def run():
        town = Town.random(seed=6)
        for t in town:
            if t.group in ("vehicle", "person"):
                town.drive(t, 2.0)
        contacts = [town.step(0.1) for _ in range(20)]
        return poses(town).tolist(), contacts, town.render((64, 36)).rgb.tobytes()

    assert run() == run()


STARTS = [((490.0, 0.0, 0.0), (25.0, 0.0, 0.0)), ((-490.0, 0.0, 0.0), (-90.0, 1.0, 0.0))]
STARTS += [((0.0, 480.0, 0.0), (0.0, 90.0, 0.0)), ((0.0, 0.0, 499.0), (0.0, 0.0, 60.0))]
STARTS += [((0.0, 0.0, 500.0), (0.0, 0.0, -90.0))]


@pytest.mark.parametrize(("start", "velocity"), STARTS)
def test_a_town_that_moves_to_its_limits_can_be_read_back(start, velocity):
    town = road(props=[Prop("man", *start)])
    man = town["man"]
    man.velocity = velocity
    for _ in range(40):
        town.step(0.1)
        assert max(abs(man.x), abs(man.y), abs(man.z)) <= 500.0
        assert Town.from_scene(town.to_scene()).to_scene() == town.to_scene()
        man.style = man.style  # what is there can be set
        man.velocity = man.velocity
    town.step(30.0)
    assert man.velocity == pytest.approx((0.0, 0.0, 0.0), abs=0.1)


def test_who_drives_on_stops_at_the_end_of_the_town_and_others_behind_it():
    cars = ("sedan", 440.0, -1.85), ("taxi", 420.0, -1.85), ("school bus", -470.0, 1.85, np.pi)
    town = road(*cars, speeds=[10.0] * 3)
    assert town.step(30.0) == []
    sedan, taxi, bus = town.vehicles
    assert (sedan.x, bus.x) == (500.0, -500.0)
    assert 1.5 < separation(sedan.outline, taxi.outline) < 3.5
    assert all(abs(t.velocity[0]) < 0.1 for t in town)
    assert Town.from_scene(town.to_scene()).to_scene() == town.to_scene()
    taxi.paint = "red"
    sedan.x = 300.0
    town.step(5.0)
    assert sedan.x > 305.0


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda town: pickle.loads(pickle.dumps(town))])
def test_a_copy_goes_on_like_the_original(copied):
    cars = ("sedan", 0.0, -1.85), ("taxi", 6.0, 1.85, np.pi)
    town = road(*cars, props=[Prop("man", 3.0, 5.0)], speeds=[5.0, 3.0, 1.4])
    town["sedan"].velocity = (5.0, 2.0, 0.0)
    town.step(0.5)
    assert town.seen()
    other = copied(town)
    assert other.to_scene() == town.to_scene()
    assert poses(other).tolist() == poses(town).tolist()
    assert all(thing.town is other for thing in other)
    before = poses(town).tolist()
    other.step(0.5)
    assert poses(town).tolist() == before
    town.step(0.5)
    assert poses(other) == pytest.approx(poses(town), abs=1e-3)
    assert other.time == town.time
    question = "Is the sedan overtaking the taxi?"
    assert other.ask(question, everywhere=True) == town.ask(question, everywhere=True)
    assert other.place("tree").kind == town.place("tree").kind  # the same random choices


def test_edits_and_motion_go_together():
    town = road(("sedan", -20.0, -1.85), speeds=[8.0])
    sedan = town["sedan"]
    town.step(3.0)
    speed = sedan.velocity[0]
    wall = town.place("cottage", x=sedan.x + 60.0, y=-1.85)
    town.step(0.1)
    assert sedan.velocity[0] == pytest.approx(speed, abs=0.5)
    town.step(30.0)
    assert separation(sedan.outline, wall.outline) > 1.0
    town.remove(wall)
    town.step(5.0)
    assert sedan.velocity[0] > 4.0


def swerve(edit=lambda town: None):
    """Where a sedan ends that comes back to its lane, if something else is edited on the way."""
    town = road(("sedan", 0.0, -1.85), ("taxi", 60.0, 1.85))
    town.drive("sedan", 5.0).velocity = (5.0, 3.0, 0.0)
    for k in range(40):
        town.step(0.1)
        if k == 8:
            edit(town)
    return poses(town)[0]


EDITS = [lambda town: setattr(town["taxi"], "paint", "red"), lambda town: town.drive("taxi", 0.0)]
EDITS += [lambda town: setattr(town, "weather", "snow")]
#: After these the bodies are built again.
BUILT = [lambda town: town.place("cottage", x=200.0), lambda town: town.move("taxi", dx=1.0)]
BUILT += [lambda town: town.remove("taxi")]


@pytest.mark.parametrize("edit", EDITS + BUILT)
def test_an_edit_of_one_thing_leaves_the_motion_of_others_as_it_was(edit):
    assert np.abs(swerve(edit) - swerve()).max() <= (1e-3 if edit in BUILT else 0)


def test_another_speed_keeps_the_lane_and_another_place_is_another_lane():
    town = road(("sedan", 0.0, -1.85), speeds=[6.0])
    sedan = town["sedan"]
    sedan.velocity = (6.0, 3.0, 0.0)
    town.step(0.5)
    assert sedan.y > -1.5
    town.drive(sedan, 7.0)
    town.step(10.0)
    assert sedan.y == pytest.approx(-1.85, abs=0.05)
    town.move(sedan, y=-2.6)
    town.step(5.0)
    assert sedan.y == pytest.approx(-2.6, abs=0.05)


@pytest.mark.parametrize("steps", [(8.0,), (4.0, 4.0), (0.5,) * 16, (7.7, 0.3)])
def test_overtaking_does_not_depend_on_the_length_of_a_step(steps):
    town, small = (road(("sedan", -10.0, -1.85), ("taxi", -2.0, 1.85), speeds=[12.0, 2.0]) for _ in range(2))
    for dt in steps:
        town.step(dt)
    for _ in range(80):
        small.step(0.1)
    assert town.ask("Is the sedan overtaking the taxi?", everywhere=True)
    assert town.time == pytest.approx(8.0)
    assert [t.x for t in town.things] == pytest.approx([t.x for t in small.things], abs=0.01)
    times = np.array([time for time, _ in town._tracks])
    assert np.diff(times).max() <= 0.5 + 1e-9
    assert 5.0 <= times[-1] - times[0] <= 6.0
    assert len(town["taxi"].track) == len(times)
    assert town["taxi"].track[-1].tolist() == [town["taxi"].x, town["taxi"].y]


def test_overtaking_is_seen_in_motion():
    cars = ("motorcycle", -17.0, -0.9), ("bicycle", -7.0, -3.0), ("taxi", 30.0, 1.85, np.pi)
    town = road(*cars, speeds=[12.0, 2.0, 5.0])
    assert town.ask("Is the motorcycle overtaking the bicycle?", everywhere=True)  # in its film
    town["motorcycle"].velocity, town["bicycle"].velocity = (10.0, 0, 0), (2.0, 0, 0)
    for _ in range(20):
        assert town.step(0.1) == []
    assert town["motorcycle"].x > town["bicycle"].x + 1
    assert town.ask("Is the motorcycle overtaking the bicycle?")
    assert not town.ask("Is the bicycle overtaking the motorcycle?")
    assert not town.ask("Is the taxi overtaking a vehicle?", everywhere=True)
    assert "overtaking the bicycle" in town.describe()
    truth = town.truth((128, 72))
    assert truth["motorcycle"].velocity[0] > 5
    (edge,) = (e for e in truth.graph()["edges"] if e["relation"] == "overtaking")
    assert (edge["subject"], edge["objects"]) == ("motorcycle", ["bicycle"])
    town.move("motorcycle", dx=6.0)  # carried, not driven
    assert town.ask("Is the motorcycle overtaking the bicycle?", everywhere=True).truth is False
