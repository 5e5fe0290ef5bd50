// Relations as logical forms over the latent scene; simtown/language/meaning/relations.py holds their table.
#pragma once
#include "exact.hpp"

enum { LATERAL, RADIAL };

struct Relations {
    const int64_t *axis, *sign;
    const double* least;
};

// A place as the viewer sees it, through a camera that is not tilted: slope to the right, metres ahead.
struct Place {
    double slope, ahead;
};

static inline Place stands(double x, double y, const float* camera)
{
    Turn yaw = turn_of(camera[3]);
    double dx = x - (double)camera[0], dy = y - (double)camera[1];
    double ahead = dy * yaw.cos - dx * yaw.sin;
    return {(dx * yaw.cos + dy * yaw.sin) / ahead, ahead};
}

// How a stands to b along an axis, metres.
static inline double separation(int64_t axis, Place a, Place b)
{
    return axis == LATERAL ? (a.slope - b.slope) * (0.5 * (a.ahead + b.ahead)) : a.ahead - b.ahead;
}

// Metres by which a relation holds between two vehicles; negative if it does not.
static inline double margin(const Relations& table, int64_t relation, Place subject, Place object)
{
    return (double)table.sign[relation] * separation(table.axis[relation], subject, object);
}

// 1 where a relation of this margin holds, -1 where it does not, 0 where it is undefined.
static inline int truth(const Relations& table, double distance, int64_t relation)
{
    double least = table.least[relation];
    return distance > least ? 1 : distance < -least ? -1 : 0;
}
