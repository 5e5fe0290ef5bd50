// Entry points: sampling examples, and the parts of it that are used alone.
#include "crowd.hpp"
#include "entries.hpp"
#include "rejection.hpp"
#include "sights.hpp"

// The draws of addresses: a row an address, as many as a row has room for.
extern "C" __attribute__((visibility("default"))) int64_t draw_bits(const DrawBits* in)
{
    for (int64_t n = 0; n < in->addresses; n++) fill(in->key, in->index[n], in->attempt[n], in->out + n * in->draws, in->draws);
    return 0;
}

// Boxes of vehicles, whether all of a scene's are wholly in the picture, and with `shares` the visible share of each.
extern "C" __attribute__((visibility("default"))) int64_t silhouettes(const Silhouettes* in)
{
    Shapes shapes = shapes_of(in);
    Desk desk;
    if (!open(desk, shapes, 1, in->vehicles, in->width, in->height, in->shares ? NOMINAL_WIDTH * NOMINAL_HEIGHT : 0)) return NO_MEMORY;
    Image& image = desk.images[0];
    for (int64_t n = 0; n < in->scenes; n++) {
        look(desk, image, in->camera + 7 * n);
        in->framed[n] = true;
        for (int64_t slot = 0; slot < in->vehicles; slot++) {
            int64_t at = n * in->vehicles + slot;
            const float* pose = in->pose + 3 * at;
            desk.entity[slot] = in->entity[at];
            put(image, slot, pose[0], pose[1], pose[2]);
            in->framed[n] &= in_picture(desk, image, slot);
            memcpy(in->box + 4 * at, image.box[slot], sizeof image.box[slot]);
        }
        for (int64_t slot = 0; in->shares && slot < in->vehicles; slot++)
            in->visible[n * in->vehicles + slot] = desk.entity[slot] >= 0 ? share(desk, image, slot, in->vehicles, 1.0) : 0;
    }
    close(desk);
    return 0;
}

// The streets of examples in their weathers.
extern "C" __attribute__((visibility("default"))) int64_t draw_streets(const DrawStreets* in)
{
    PropKinds kinds = prop_kinds_of(in);
    for (int64_t n = 0; n < in->examples; n++) {
        uint8_t weather = in->weather[n];
        street_of(in->key, in->index[n], in->bare_trees[weather], in->has_clouds[weather], kinds, in->prop + n * SLOTS,
                  (float (*)[5])in->prop_pose + n * SLOTS, in->prop_style + n * SLOTS);
    }
    return 0;
}

// Sample the examples `index` into the arrays. Returns FOUND, or the loop that failed, or NO_MEMORY.
extern "C" __attribute__((visibility("default"))) int64_t sample(const Sample* in)
{
    Plan plan = {
        (const uint64_t (*)[2])in->keys, in->subject, in->object, in->sums, in->entities, in->vehicles, in->relations, in->asked,
        (const bool (*)[2])in->mirrors, in->images, in->mirrors_of_three, in->exchangeable != 0,
        in->weathers, in->allowed, in->phrasings, in->forms, in->paints, in->paint_count, in->may_change, (const double (*)[2])in->half,
        prop_kinds_of(in), {in->axis, in->sign, in->least}, {(const double (*)[2])in->elevation, in->bare_trees, in->has_clouds},
    };
    Arrays out = {in->entity, in->pose, in->paint, in->prop, in->prop_pose, in->prop_style, in->weather, in->intensity,
                  in->sun, in->fall_seed, in->camera, in->answer, in->subject_slot, in->object_slot, in->relation,
                  in->phrasing, in->margin, in->visible};
    Shapes shapes = shapes_of(in);
    Desk desk;
    if (!open(desk, shapes, in->images + 1, in->vehicles, NOMINAL_WIDTH, NOMINAL_HEIGHT)) return NO_MEMORY;
    Sampler sampler = {plan, desk, (int64_t (*)[2])in->tried};
    Loop failed = FOUND;
    for (int64_t n = 0; n < in->examples && failed == FOUND; n++) failed = sampler.example(in->index[n], out, n);
    close(desk);
    return failed;
}

// Fill streets with vehicles where poses are not a number.
extern "C" __attribute__((visibility("default"))) int64_t place_crowds(const PlaceCrowds* in)
{
    Shapes shapes = shapes_of(in);
    Desk desk;
    if (!open(desk, shapes, 2, in->vehicles, NOMINAL_WIDTH, NOMINAL_HEIGHT)) return NO_MEMORY;
    for (int64_t n = 0; n < in->scenes; n++) {
        int64_t at = n * in->vehicles;
        in->placed[n] = fill_street(desk, (const double (*)[2])in->half, in->key, in->index[n], in->attempt[n], in->rough, in->entity + at,
                                    in->camera + 7 * n, (float (*)[3])in->pose + at, in->visible + at, in->tried);
    }
    close(desk);
    return 0;
}

// Count the pixels of everything in streets.
extern "C" __attribute__((visibility("default"))) int64_t see_streets(const SeeStreets* in)
{
    Shapes shapes = shapes_of(in);
    Desk desk;
    int64_t rows = column_of(in->height), slots = in->slots;
    if (!open(desk, shapes, 1, 1, in->width, in->height, in->width * rows, rows)) return NO_MEMORY;
    Thing* things = (Thing*)malloc(slots * sizeof(Thing) + in->width * in->height * sizeof(int16_t));
    if (!things) return close(desk), NO_MEMORY;
    for (int64_t n = 0; n < in->scenes; n++)
        see_street(desk, in->camera + 7 * n, slots, in->mesh + n * slots, (const float (*)[6])in->pose + n * slots,
                   (const float (*)[2])in->shape_middle, things, (int16_t*)(things + slots), in->seen + n * slots, in->whole + n * slots);
    free(things), close(desk);
    return 0;
}
