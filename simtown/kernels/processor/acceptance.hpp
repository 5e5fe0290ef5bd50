// Whether a street is accepted: every vehicle wholly in the picture and visible enough, in its mirror images too.
#pragma once
#include "placement.hpp"
#include "relations.hpp"
#include "silhouette.hpp"

static const float LEAST_VISIBLE = 0.4f;
static const double ENOUGH = 0.4 + 0.001; // a share of which rounding does not matter

// Look at a scene with a camera, and at its mirror images.
static inline void look_all(Desk& desk, const bool (*mirrors)[2], int64_t images, const float* camera)
{
    look(desk, desk.images[0], camera);
    for (int64_t m = 0; m < images; m++) {
        float seen[7];
        memcpy(seen, camera, sizeof seen);
        if (mirrors[m][LATERAL]) seen[0] = -seen[0], seen[3] = -seen[3];
        look(desk, desk.images[m + 1], seen);
    }
}

// Whether vehicles are wholly in the picture and visible enough, in the scene and in `images` mirror images.
//
// A scene is acceptable only if its mirror image along every axis that is asked about is too: else a kind that easily
// hides others would stand more often on one side of them, and the words of a question alone would hint at its answer.
// Vehicles before slot `first` were acceptable before the others came. Fills the shares of the scene's vehicles in; without
// `visible` it only decides.
static bool acceptable(Desk& desk, const bool (*mirrors)[2], int64_t images, int64_t first, int64_t count, float* visible)
{
    for (int64_t k = 0; k <= images; k++) {
        Image &image = desk.images[k], &scene = desk.images[0];
        for (int64_t slot = first; slot < count; slot++) {
            if (k > 0) {
                const bool* mirror = mirrors[k - 1];
                float x = scene.pose[slot][0], y = scene.pose[slot][1], yaw = scene.pose[slot][2];
                if (mirror[LATERAL]) x = -x, yaw = -yaw;
                if (mirror[RADIAL]) y = -y, yaw = (float)LANE_YAW[1] - yaw;
                put(image, slot, x, y, yaw);
            }
            if (!in_picture(desk, image, slot)) return false;
        }
    }
    for (int64_t k = images; k >= 0; k--) {
        Image& image = desk.images[k];
        for (int64_t slot = 0; slot < count; slot++) {
            if (slot < first && !hides(desk, image, count - 1, slot)) continue;
            float seen = share(desk, image, slot, count, k > 0 || !visible ? ENOUGH : 1.0);
            if (seen < LEAST_VISIBLE) return false;
            desk.seen[slot] = seen;
        }
    }
    for (int64_t slot = 0; visible && slot < count; slot++)
        if (slot >= first || hides(desk, desk.images[0], count - 1, slot)) visible[slot] = desk.seen[slot];
    return true;
}
