// Numbers that have names, the same for the processor and the card; a test compares them with Python's.
#pragma once
#include "words.hpp"

// A sample is one u32: 18 bits of 1/depth above 14 bits of triangle number, so that the depth test is an integer maximum.
constexpr u32 TAG_BITS = 14, TAG = (1u << TAG_BITS) - 1, DEPTH = ~TAG;
constexpr int SKY_LEVELS = 32, MOST_TRIANGLES = (1 << TAG_BITS) - 1 - SKY_LEVELS;
constexpr u32 SKY = MOST_TRIANGLES + 1;     // the triangle number of the first level of cloud, a clear sky
constexpr float NEAR = 2.0f;                // metres: what is nearer is not drawn
constexpr double FULL = 4293918720.0 * 2.0; // 1/depth = 1/NEAR maps to just under 2^32
constexpr double METRE = FULL / 65536.0;    // nearness, the upper half of a sample, of what is a metre away
constexpr float SNAP = 256.0f;              // corners lie on a grid of so many to the sample,
constexpr int REACH = 1 << 28;              // and within so many

// Columns of a light row (simtown/render/light.py).
enum Light { SUN_DIRECTION = 0, SUN = 3, SKY_LIGHT = 6, BOUNCE = 9, FOG = 12, TOP = 15, HORIZON = 18, VEIL = 21, VEHICLE_SUN = 24,
             DENSITY = 33, THICK, SNOW, WET, LAMPS_ON, SHADOW, CONTACT, FALL, AMOUNT, CLOUD_LIGHT, COVER, STARS, LIGHT_COLUMNS };
constexpr float RAIN = 1.0f;                // in column FALL

// Kinds of materials (simtown/assets/palette.py).
enum Kind { MATTE, GLASS, WINDOW, HEADLAMP, TAILLAMP, GLOW, TINT_WALL, TINT_ROOF, LEAF, GROUND, ROAD, TINT_CLOTH, CLOUD };
constexpr int TINTS = 10;
// What a mesh does to the ground: it casts a shadow, it stands on the ground; and whether it is a vehicle.
enum Role { CASTS = 1, STANDS = 2, VEHICLE = 4 };
// Flags of a triangle that lies flat on the ground, which takes shadows and light: on grass, or on what mirrors when wet.
enum Flag { GRASS = 1, TARMAC, PAVED };
