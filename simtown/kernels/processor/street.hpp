// The random street behind the road; see simtown/scenes/street.py.
#pragma once
#include "streams.hpp"

enum { BUILDINGS = 7, LAMPS = 4, PAVEMENT = 8, BACK = 4, CLOUDS = 3, TREES = BUILDINGS - 1, HEDGES = BUILDINGS - 2 };
enum { SLOTS = BUILDINGS + LAMPS + PAVEMENT + TREES + HEDGES + BACK + CLOUDS, MOST_BUILDINGS = 64 };

// Numbers of kinds that play one part.
struct Kinds {
    const int16_t* numbers;
    int64_t count;

    int16_t pick(double u) const { return numbers[(int64_t)(u * (double)count)]; }
};

// Kinds by the part they play; `PropKinds` in simtown/scenes/street.py describes them.
struct PropKinds {
    Kinds building, tree, winter, mailbox, small, person, sideways, hedge, winter_hedge, cloud, lamp;
    const double* half;
    int64_t tints, poses;
};

// The kinds among the arguments of an entry point.
template <class Arguments> static inline PropKinds prop_kinds_of(const Arguments* in)
{
    return {{in->building, in->buildings}, {in->tree, in->trees}, {in->winter, in->winters}, {in->mailbox, in->mailboxes},
            {in->small, in->smalls}, {in->person, in->people}, {in->sideways, in->sideways_people}, {in->hedge, in->hedges},
            {in->winter_hedge, in->winter_hedges}, {in->cloud, in->clouds}, {in->lamp, in->lamps}, in->prop_half, in->tints, in->poses};
}

// Yaw of a person by a number in [-1, 1]: people walk along the pavement; people who stand look more or less at the road.
static inline double facing(const PropKinds& kinds, int16_t person, uint16_t style, double s)
{
    int64_t pose = style / (kinds.tints * kinds.tints) % kinds.poses;
    double turn = pose == 0 ? 1.2 * s : pose == 1 ? (s < 0 ? -1.0 : 1.0) + 0.75 * s : 0.6 * s;
    for (int64_t i = 0; i < kinds.sideways.count; i++)
        if (kinds.sideways.numbers[i] == person) return turn - 1.1;
    return turn;
}

// The street of one example, in its weather: kinds (-1: an empty slot), poses (x, y, z, yaw, scale) and styles by slot.
static inline void street_of(const uint64_t* key, int64_t index, bool bare_trees, bool clouds, const PropKinds& kinds,
                             int16_t* prop, float (*pose)[5], uint16_t* style)
{
    const double cell = 3.0, shift = 0.1, tallest = 1.06, front = 10.4, smallest = 0.97, largest = 1.13;
    uint64_t bits[5 * SLOTS], order[MOST_BUILDINGS];
    double u[SLOTS][5], x[BUILDINGS], half[BUILDINGS], gap[BUILDINGS], right[BUILDINGS];
    fill(key, index, 0, bits, 5 * SLOTS);
    for (int i = 0; i < SLOTS; i++)
        for (int k = 0; k < 5; k++) u[i][k] = uniform(bits[5 * i + k]);
    fill(key, index, 1, bits, SLOTS);
    for (int i = 0; i < SLOTS; i++) {
        style[i] = (uint16_t)(bits[i] >> 48);
        for (int k = 0; k < 4; k++) pose[i][k] = 0;
        pose[i][4] = 1;
    }
    const Kinds &trees = bare_trees ? kinds.winter : kinds.tree, &hedges = bare_trees ? kinds.winter_hedge : kinds.hedge;

    // buildings: side by side from left to right, with small gaps now and then, no kind twice
    fill(key, index, 2, order, kinds.building.count);
    double end = 0;
    for (int i = 0; i < BUILDINGS; i++) {
        int64_t first = 0;
        for (int64_t k = 1; k < kinds.building.count; k++)
            if (order[k] < order[first]) first = k;
        order[first] = ~(uint64_t)0; // this kind is used
        prop[i] = kinds.building.numbers[first];
        double scale = smallest + (largest - smallest) * u[i][4];
        half[i] = kinds.half[prop[i]] * scale;
        gap[i] = u[i][1] < 0.55 ? 0.12 : 0.3 + 2.2 * (u[i][1] - 0.55);
        end += 2 * half[i] + gap[i];
        right[i] = end;
        pose[i][1] = (float)(front + 0.8 * u[i][3]), pose[i][4] = (float)scale;
    }
    for (int i = 0; i < BUILDINGS; i++) {
        x[i] = right[i] - half[i] - gap[i] - end * 0.5 + 4.0 * (u[0][2] - 0.5);
        pose[i][0] = (float)x[i];
    }

    // lanterns along the kerb, evenly
    int slot = BUILDINGS;
    for (int i = 0; i < LAMPS; i++, slot++) {
        prop[slot] = kinds.lamp.numbers[0];
        pose[slot][0] = (float)(7.8 * (i - 1.5) + 4.0 * (u[BUILDINGS][0] - 0.5)), pose[slot][1] = 4.1f;
    }

    // the pavement: people, furniture, mailboxes, or nothing
    for (int i = 0; i < PAVEMENT; i++, slot++) {
        double choice = u[slot][0], which = u[slot][1], aside = u[slot][2], depth = u[slot][3], turn = u[slot][4];
        pose[slot][0] = (float)(cell * (i - (PAVEMENT - 1) / 2.0) + 2 * shift * (aside - 0.5));
        pose[slot][1] = (float)(5.45 + 0.4 * depth);
        pose[slot][3] = (float)(0.3 * (turn - 0.5));
        if (choice < 0.28) {
            prop[slot] = kinds.person.pick(which);
            pose[slot][3] = (float)facing(kinds, prop[slot], style[slot], 2 * turn - 1);
            pose[slot][4] = (float)(0.92 + (tallest - 0.92) * aside);
        } else if (choice < 0.52) {
            prop[slot] = kinds.small.pick(which);
        } else {
            prop[slot] = choice < 0.70 ? kinds.mailbox.pick(which) : -1;
        }
    }

    // the strip before the houses, and trees that look over the roofs
    for (int i = 0; i < TREES; i++, slot++) {
        prop[slot] = u[slot][0] < 0.62 ? trees.pick(u[slot][1]) : -1;
        pose[slot][0] = (float)(x[i] + half[i] + 0.5 * gap[i] + 0.6 * (u[slot][2] - 0.5));
        pose[slot][1] = (float)(7.9 + 0.5 * u[slot][3]);
        pose[slot][3] = (float)(6.2 * u[slot][4]), pose[slot][4] = (float)(0.75 + 0.35 * u[slot][3]);
    }
    for (int i = 0; i < HEDGES; i++, slot++) {
        prop[slot] = u[slot][0] < 0.6 ? hedges.pick(u[slot][1]) : -1;
        double room = most(half[i + 1] - 1.9, 0.0); // so much to either side of the middle is free of trees
        pose[slot][0] = (float)(x[i + 1] + room * (2 * u[slot][2] - 1)), pose[slot][1] = (float)(7.3 + 0.4 * u[slot][3]);
    }
    for (int i = 0; i < BACK; i++, slot++) {
        prop[slot] = trees.pick(u[slot][1]);
        pose[slot][0] = (float)(8.5 * (i - (BACK - 1) / 2.0) + 4.0 * (u[slot][2] - 0.5));
        pose[slot][1] = (float)(20.0 + 6.0 * u[slot][3]);
        pose[slot][3] = (float)(6.2 * u[slot][4]), pose[slot][4] = (float)(1.3 + 0.7 * u[slot][3]);
    }
    for (int i = 0; i < CLOUDS; i++, slot++) {
        prop[slot] = clouds && u[slot][0] < 0.8 ? kinds.cloud.pick(u[slot][1]) : -1;
        pose[slot][0] = (float)(38.0 * (i - (CLOUDS - 1) / 2.0) + 18.0 * (u[slot][2] - 0.5));
        pose[slot][1] = (float)(88.0 + 8.0 * u[slot][3]);
        pose[slot][2] = (float)(22.0 + 16.0 * u[slot][4]), pose[slot][4] = (float)(1.0 + 0.8 * u[slot][3]);
    }
}
