// Where vehicles stand: random places in either lane, and whether they are apart; see simtown/scenes/placement.py.
#pragma once
#include "exact.hpp"

struct Spot {
    double x, y, yaw;
};
struct Span {
    double from, to;
};

static const double LANE_Y[2] = {-1.85, 1.85}, LANE_YAW[2] = {0.0, 3.141592653589793};
static const double SWAY = 0.25, GAP = 0.25, SLACK = 0.05;

// Least and greatest x at which the camera frames the whole near flank of a vehicle along the road.
static inline Span framed_lane(double y, const double* half, const float* camera, bool exchangeable)
{
    double cx = camera[0], cy = camera[1];
    Turn yaw = turn_of(camera[3]);
    double s = yaw.sin, c = yaw.cos, k = 0.5 / (double)camera[5]; // half the picture's width, over the focal length
    double ahead = (exchangeable ? -fabs(y) : y) - half[1] - cy;
    double left = cx - ahead * (k * c + s) / (c - k * s) + half[0] + SLACK;
    double right = cx + ahead * (k * c - s) / (c + k * s) - half[0] - SLACK;
    double middle = 0.5 * (left + right);
    return {least(left, middle), most(right, middle)};
}

// A pose in a lane, from two uniform numbers.
static inline Spot place(int lane, double across, double along, const double* half, const float* camera, bool exchangeable)
{
    double y = LANE_Y[lane] + SWAY * (2 * across - 1);
    Span span = framed_lane(y, half, camera, exchangeable);
    return {span.from + (span.to - span.from) * along, y, LANE_YAW[lane]};
}

// Whether a lane has room for vehicles a and b.
static inline bool has_room(int lane, const double* a, const double* b, const float* camera, bool exchangeable)
{
    double y = LANE_Y[lane] + SWAY; // where the camera frames most of the lane
    Span of_a = framed_lane(y, a, camera, exchangeable), of_b = framed_lane(y, b, camera, exchangeable);
    return most(of_a.to - of_b.from, of_b.to - of_a.from) >= a[0] + b[0] + GAP;
}

struct Lanes {
    int of_a, of_b;
};

// Lanes of vehicles a and b from one uniform number: all ways in which they can stand apart are equally likely.
static inline Lanes pair_lanes(double u, const double* a, const double* b, const float* camera, bool exchangeable)
{
    bool near = has_room(0, a, b, camera, exchangeable), far = has_room(exchangeable ? 0 : 1, a, b, camera, exchangeable);
    int choice = (int)floor(u * (2 + near + far));
    if (choice < 2) return {choice, 1 - choice};
    int lane = near && choice == 2 ? 0 : 1;
    return {lane, lane};
}

struct Berth {
    int row;
    double x;
};

// A place for the last vehicle in one of several rows along the road (y), from a uniform number: framed and apart from
// the others, if it can be.
template <int ROWS> static inline Berth place_in_rows(double u, const double (&y)[ROWS], const int64_t* entity, int last,
                                                      const float (*pose)[3], const Turn* yaws, const double (*half)[2], const float* camera)
{
    const double* own = half[entity[last]];
    double begin[ROWS][8], end[ROWS][8], start[8 * ROWS], free[8 * ROWS];
    for (int row = 0; row < ROWS; row++) {
        Span span = framed_lane(y[row], own, camera, false);
        for (int i = 0; i < last; i++) { // what each of the others takes of the row, in order of where that begins
            double s = fabs(yaws[i].sin), c = fabs(yaws[i].cos), length = half[entity[i]][0], width = half[entity[i]][1];
            double reach = c * length + s * width + own[0] + GAP;
            bool beside = fabs(y[row] - (double)pose[i][1]) > s * length + c * width + own[1] + GAP;
            double first = beside ? span.to : (double)pose[i][0] - reach, stop = beside ? span.to : (double)pose[i][0] + reach;
            int at = i;
            for (; at > 0 && begin[row][at - 1] > first; at--)
                begin[row][at] = begin[row][at - 1], end[row][at] = end[row][at - 1];
            begin[row][at] = first, end[row][at] = stop;
        }
        for (int i = 0; i <= last; i++) { // the pieces between them
            int piece = row * (last + 1) + i;
            start[piece] = i == 0 ? span.from : most(start[piece - 1], end[row][i - 1]);
            free[piece] = most((i < last ? least(begin[row][i], span.to) : span.to) - start[piece], 0.0);
        }
    }
    int pieces = ROWS * (last + 1), piece = 0;
    double total = 0;
    for (int i = 0; i < pieces; i++) total += free[i];
    double along = u * total, before = free[0];
    while (before <= along && piece < pieces - 1) before += free[++piece];
    return {piece / (last + 1), start[piece] + (along - (before - free[piece]))};
}

// A pose of the last vehicle, in either lane, from two uniform numbers: framed and apart from the others, if it can be.
static inline Spot place_beside(double u, double v, const int64_t* entity, int last, const float (*pose)[3],
                                const Turn* yaws, const double (*half)[2], const float* camera)
{
    const double y[2] = {LANE_Y[0] + SWAY * (2 * v - 1), LANE_Y[1] + SWAY * (2 * v - 1)};
    Berth berth = place_in_rows(u, y, entity, last, pose, yaws, half, camera);
    return {berth.x, y[berth.row], LANE_YAW[berth.row]};
}

// Whether vehicles i and j of a scene stand less than GAP apart: the separating-axis test of their footprints.
static inline bool too_close(const int64_t* entity, const float (*pose)[3], const Turn* yaws, const double (*half)[2], int i, int j)
{
    Turn at = yaws[i], bt = yaws[j];
    double dx = (double)pose[j][0] - pose[i][0], dy = (double)pose[j][1] - pose[i][1];
    double c = fabs(at.cos * bt.cos + at.sin * bt.sin), s = fabs(bt.sin * at.cos - bt.cos * at.sin);
    double long_a = half[entity[i]][0], wide_a = half[entity[i]][1], long_b = half[entity[j]][0], wide_b = half[entity[j]][1];
    return fabs(dx * at.cos + dy * at.sin) <= long_a + long_b * c + wide_b * s + GAP
        && fabs(dy * at.cos - dx * at.sin) <= wide_a + long_b * s + wide_b * c + GAP
        && fabs(dx * bt.cos + dy * bt.sin) <= long_b + long_a * c + wide_a * s + GAP
        && fabs(dy * bt.cos - dx * bt.sin) <= wide_b + long_a * s + wide_a * c + GAP;
}
