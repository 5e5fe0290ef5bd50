"""Every metre, share and angle that decides what is too close to say, and what counts as seen.

Data sets and towns use the same limits, except where a name begins with TOWN. docs/questions.md and
docs/town.md say in words what each means; :data:`simtown.scenes.placement.LEAST_VISIBLE` stands below
language, with the streets that it decides.
"""

from math import radians

# Where things are, in metres.

#: Two middles that differ by less, to the left or right, are not left or right of each other.
ASIDE = 0.5
#: Two middles that differ by less, ahead or behind, are not in front of or behind each other.
ALONG = 1.5
#: Two distances or sizes that differ by less count as equal.
NEARER = 0.5
#: The same in a town, which also says what is only just nearer; of speeds in metres a second.
TOWN_NEARER = 0.1
#: Half the road (``simtown/assets/street/road_surface.py``). Vehicles farther from its middle stand in no
#: lane; those nearer to the viewer are parked.
LANE_EDGE = 3.7
#: Things whose outlines are closer than this are next to each other.
BESIDE = 1.5
#: Things whose outlines are closer than this are near each other.
NEAR = 4.0
#: Things whose outlines are farther apart than this are far from each other.
FAR = 10.0
#: The underside of what stands on something may be so far from its top.
CONTACT = 0.05
#: By relation of solids: it is undefined if it holds or fails by less.
SOLID_MARGINS = {
    "on": 0.02,
    "next to": 0.25,
    "near": 0.5,
    "far from": 1.0,
    "between": 0.1,
    "facing": 0.1,
    "overtaking": 0.5,
}
#: A reply about a distance is right within so many metres, or within the share below if that is more.
TOLERANCE = 0.5
#: See :data:`TOLERANCE`.
TOLERATED_SHARE = 0.1
#: In a town, a thing moves at a speed if its own differs by at most so many metres a second.
TOWN_SPEED = 0.5

# Which way things head.

#: Radians around the border of two directions in which neither is said.
UNCLEAR_TURN = radians(5)

# What happens from one picture of a sequence to another.

#: Metres that a vehicle drives at least, in all pictures that show it, if it is said to drive.
DRIVEN = 0.5
#: Metres by which two paths differ at least if one vehicle is faster: the same as of two sizes.
FASTER = NEARER
#: How many times faster a vehicle is at least after it speeds up, or before it slows down.
PACE_RATIO = 1.5
#: Metres that a vehicle is moved at least.
MOVED = 1.0
#: Metres between two cameras along the one axis in which they differ.
CAMERA_STEP = 1.0

#: Metres along the road by which a vehicle is before or behind another one that it passes, and by which the
#: picture in which it is nearest to that differs from any other.
PASSED = 0.5
#: Metres that something drives between two pictures that do not show one moment.
LATER = 1.5
#: Metres between two vehicles, seen from the last camera, whose places from the left are told.
PLACED = 0.5
#: Metres along the road between the seats of two drivers who look the same way.
SEATS_APART = 3.0

# What is seen.

#: A vehicle's colour is that of its body if at least this share of the paint that is seen has it.
CLEAR_COLOUR = 0.25
#: A vehicle has no colour of which more than this share of the paint is seen.
NO_COLOUR = 0.10
#: Pixels of the body's paint that the picture shows at least of a vehicle that has a colour.
COLOUR_PIXELS = 24
#: Pixels of a side of a picture below which colours are not asked for.
SMALL_PICTURE = 64
#: Shares of a vehicle that are hidden between the values of "hidden".
HIDDEN = (0.03, 1 / 3)
#: By border of :data:`HIDDEN`, shares that differ from it by less than this count as neither.
HIDDEN_MARGIN = (0.028, 0.05)
#: In a town, a smaller share of a thing that another one hides is too little to say.
TOWN_HIDING = 0.005
#: Thirds of a picture around the border of two thirds in which neither is said.
THIRD_MARGIN = 0.05
#: Pixels of the nominal picture that show at least of a thing beside the road that is seen.
THING_PIXELS = 40.0
#: The share of its outline that shows at least of a thing that is seen.
THING_SHARE = 0.3
#: The share of its light that comes at least through fog from a thing that is seen.
THING_LIGHT = 0.3
#: Weathers of less than this intensity look like others.
LEAST_INTENSITY = 0.3
#: The same of fog, which is seen sooner.
LEAST_FOG = 0.1

# By how much the pictures of twins differ.

#: Levels, of 255, by which a pixel of one picture must differ from that of another so that it is counted.
SEEN_DIFFERENCE = 8
#: Pixels that differ at least if a vehicle is turned.
TURNED_PIXELS = 40
#: Pixels that a thing beside the road covers at least.
TWIN_THING_PIXELS = 2.0
