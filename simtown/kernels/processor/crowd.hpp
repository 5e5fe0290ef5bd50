// Busy streets: up to eight vehicles in both lanes and parked at the near kerb; see simtown/scenes/crowd.py.
#pragma once
#include "acceptance.hpp"
#include "streams.hpp"

enum { NEAR_LANE, FAR_LANE, PARKED, ROWS };
// Places that are tried for one vehicle, and streets that are begun for one scene.
enum { PLACES = 12, BEGINNINGS = 24 };
// The near kerb (y), how far a parked vehicle stands from it, at least, and how much farther it may stand, metres.
static const double NEAR_KERB = -5.8, FROM_KERB = 0.12, PARKING_SWAY = 0.15;
// How often a vehicle faces against its lane, by row.
static const double AGAINST[ROWS] = {0.25, 0.25, 0.4};
// Left and right exchanged: every vehicle keeps to its lane, and faces with or against it as before.
static const bool SIDEWAYS[1][2] = {{true, false}};

// A place is tried only where this share of each vehicle, or more, is visible as far as boxes tell. Such streets are mostly
// acceptable; masks say which.
static const double ROUGHLY_VISIBLE = 0.45;

// The visible share of a vehicle, guessed from how much of its box, in 8 rows of 16 points, those boxes hide that the first `count`
// vehicles before it have. The corners of boxes are empty: masks hide less, and so little of what boxes hide at a corner alone.
static inline double rough_share(const Desk& desk, const Image& image, int64_t slot, int64_t count)
{
    uint32_t covered[8] = {0};
    const float* own = image.box[slot];
    float wide = 16 / most(own[2] - own[0], 1e-3f), high = 8 / most(own[3] - own[1], 1e-3f);
    for (int64_t other = 0; other < count; other++) {
        if (!hides(desk, image, other, slot)) continue;
        const float* box = image.box[other];
        int left = (int)most((box[0] - own[0]) * wide + 0.5f, 0.0f), right = (int)least((box[2] - own[0]) * wide + 0.5f, 16.0f);
        int top = (int)most((box[1] - own[1]) * high + 0.5f, 0.0f), bottom = (int)least((box[3] - own[1]) * high + 0.5f, 8.0f);
        uint32_t columns = right > left ? (1u << right) - (1u << left) : 0;
        for (int row = top; row < bottom; row++) covered[row] |= columns;
    }
    int hidden = 0;
    for (uint32_t columns : covered) hidden += __builtin_popcount(columns);
    double share = hidden / 128.0;
    return 1 - share * (0.12 + 1.1 * share);
}

// Whether the last of some vehicles is apart from the others and in the picture.
static inline bool apart_in_picture(Desk& desk, const double (*half)[2], int64_t slot)
{
    Image& image = desk.images[0];
    for (int64_t other = 0; other < slot; other++)
        if (too_close(desk.entity, image.pose, image.yaw, half, (int)slot, (int)other)) return false;
    return in_picture(desk, image, slot);
}

// Whether the vehicle of a slot fits among those before it, as far as boxes tell.
static inline bool fits(Desk& desk, const double (*half)[2], int64_t slot)
{
    if (!apart_in_picture(desk, half, slot)) return false;
    const Image& image = desk.images[0];
    for (int64_t other = 0; other <= slot; other++)
        if ((other == slot || hides(desk, image, slot, other)) && rough_share(desk, image, other, slot + 1) < ROUGHLY_VISIBLE) return false;
    return true;
}

// Stand the vehicle of a slot somewhere in the street, from an address. Returns whether it fits.
static inline bool stand(Desk& desk, const double (*half)[2], Words drawn, int64_t slot)
{
    Image& image = desk.images[0];
    const double* own = half[desk.entity[slot]];
    double v = uniform(drawn.at[1]), sway = SWAY * (2 * v - 1);
    double y[ROWS] = {LANE_Y[0] + sway, LANE_Y[1] + sway, NEAR_KERB + FROM_KERB + own[1] + PARKING_SWAY * v};
    double lanes[PARKED] = {y[0], y[1]}, u = uniform(drawn.at[0]), ahead = y[PARKED] - own[1] - (double)image.camera[1];
    Turn tilt = turn_of(image.camera[4]);
    double z = image.camera[2], depth = ahead * tilt.cos - z * tilt.sin;
    // else none can be parked in the picture
    bool kerb_seen = z * tilt.cos + ahead * tilt.sin <= -(double)image.camera[6] * depth;
    Berth at = kerb_seen ? place_in_rows(u, y, desk.entity, (int)slot, image.pose, image.yaw, half, image.camera)
                         : place_in_rows(u, lanes, desk.entity, (int)slot, image.pose, image.yaw, half, image.camera);
    int lane = at.row == FAR_LANE ? 1 : 0;
    bool against = uniform(drawn.at[2]) < AGAINST[at.row];
    put(image, slot, (float)at.x, (float)y[at.row], (float)LANE_YAW[against ? 1 - lane : lane]);
    return fits(desk, half, slot);
}

// Fill a street with vehicles, the longest first, around those that have a pose. Returns whether these fit and a place was found for
// all others, and adds the places that were tried and those that were taken to `tried`. Where none was found, poses are 0.
//
// Half of the streets are made as their mirror images, so that both are as likely. Masks decide in the end whether a street
// and its mirror image are acceptable; with `rough` that is left open, and visible shares are those of boxes.
static inline bool fill_street(Desk& desk, const double (*half)[2], const uint64_t* key, int64_t index, int64_t attempt, bool rough,
                               const int64_t* entity, const float* camera, float (*pose)[3], float* visible, int64_t* tried)
{
    int64_t order[MOST_VEHICLES], count = 0, kept = 0;
    bool mirrored = words(key, index, attempt, BEGINNINGS * MOST_VEHICLES * PLACES).at[0] >> 63, fitting = true;
    float sign = mirrored ? -1.0f : 1.0f, away[7];
    memcpy(away, camera, sizeof away);
    away[0] *= sign, away[3] *= sign;
    look(desk, desk.images[0], away);
    for (int64_t slot = 0; slot < desk.vehicles; slot++) {
        if (entity[slot] < 0 || isnan(pose[slot][0])) continue;
        desk.entity[kept] = entity[slot], order[kept] = slot;
        put(desk.images[0], kept, sign * pose[slot][0], pose[slot][1], sign * pose[slot][2]);
        fitting = fitting && apart_in_picture(desk, half, kept++);
    }
    count = kept;
    for (int64_t slot = 0; slot < desk.vehicles; slot++) {
        if (!isnan(pose[slot][0])) continue;
        memset(pose[slot], 0, sizeof *pose);
        if (entity[slot] < 0) continue;
        int64_t at = count++;
        for (; at > kept && half[entity[order[at - 1]]][0] < half[entity[slot]][0]; at--) order[at] = order[at - 1];
        order[at] = slot;
    }
    for (int64_t k = kept; k < count; k++) desk.entity[k] = entity[order[k]];
    for (int64_t beginning = 0; fitting && beginning < (kept < count ? BEGINNINGS : 1); beginning++) {
        int64_t standing = kept, place = 0;
        if (beginning) look(desk, desk.images[0], away);
        for (int64_t k = 0; beginning && k < kept; k++) {
            const float* at = pose[order[k]];
            put(desk.images[0], k, sign * at[0], at[1], sign * at[2]), in_picture(desk, desk.images[0], k);
        }
        for (; standing < count && place < PLACES; place++) {
            tried[0]++;
            Words drawn = words(key, index, attempt, (beginning * MOST_VEHICLES + standing) * PLACES + place);
            if (stand(desk, half, drawn, standing)) standing++, place = -1;
        }
        if (standing < count) continue;
        float found[MOST_VEHICLES][3], share[MOST_VEHICLES];
        for (int64_t k = 0; k < count; k++) {
            memcpy(found[k], k < kept ? pose[order[k]] : desk.images[0].pose[k], sizeof *found);
            if (k >= kept) found[k][0] *= sign;
            share[k] = (float)rough_share(desk, desk.images[0], k, count);
        }
        if (!rough) {
            look_all(desk, SIDEWAYS, 1, camera);
            for (int64_t k = 0; k < count; k++) put(desk.images[0], k, found[k][0], found[k][1], found[k][2]);
            if (!acceptable(desk, SIDEWAYS, 1, 0, count, share)) continue;
        }
        tried[1] += count - kept;
        for (int64_t k = 0; k < count; k++) memcpy(pose[order[k]], found[k], sizeof *pose), visible[order[k]] = share[k];
        return true;
    }
    return false;
}
