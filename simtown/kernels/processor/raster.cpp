// Entry point: drawing scenes with the processor.
#include "entries.hpp"
#include "raster.hpp"

namespace {
struct Memory {
    char* next;

    template <class T> T* take(int64_t count)
    {
        T* taken = (T*)next;
        next += (count * sizeof(T) + 63) / 64 * 64;
        return taken;
    }
};

int64_t pairs_of(int64_t width) { return (width / LANES + 2) * LANES; }

// Lay the arrays of a strip of `width` pixels out. Returns where they end.
char* lay_out(char* begin, const Draw* in, Canvas& canvas, Scratch& scratch, Dark& dark)
{
    Memory memory = {begin};
    int64_t high = 2 * in->height + 1, most_tags = (1 << TAG_BITS) + LANES, pairs = pairs_of(in->strip), slots = in->slots;
    canvas.stride = (2 * in->strip + 1 + WIDE + 15) / 16 * 16;
    canvas.samples = memory.take<uint32_t>(high * canvas.stride + WIDE);
    scratch.spots = (float (*)[4])memory.take<float>(4 * (in->most_vertices + 2 * LANES)) + LANES; // the last mesh may begin before it
    scratch.facing = memory.take<int32_t>(in->most_faces + 2 * LANES);
    scratch.drawn = memory.take<int32_t>(most_tags);
    scratch.starts = memory.take<int32_t>(high);
    scratch.following = memory.take<int32_t>(in->most_ground), scratch.active = memory.take<int32_t>(in->most_ground);
    scratch.bottoms = memory.take<int32_t>(pairs), scratch.shares = memory.take<int32_t>(pairs);
    scratch.colours = (float (*)[4])memory.take<float>(4 * most_tags), scratch.planes = (float (*)[4])memory.take<float>(4 * most_tags);
    scratch.means = memory.take<float>(most_tags), scratch.cover = memory.take<float>(canvas.stride);
    scratch.owners = memory.take<uint8_t>(most_tags), scratch.wet_blocks = memory.take<uint8_t>(pairs >> BITS);
    scratch.packed = memory.take<uint64_t>(most_tags);
    scratch.evens = memory.take<uint64_t>(pairs + LANES), scratch.odds = memory.take<uint64_t>(pairs), scratch.sums = memory.take<uint64_t>(pairs);
    scratch.mirrored = memory.take<uint64_t>(pairs);
    scratch.flat = memory.take<Flat>(in->most_ground);
    scratch.nearness = memory.take<uint16_t>(in->height * in->width);
    int64_t corners = in->most_corners, lamps = 2 * slots * in->most_lamps + 1; // each with its light and its reflection
    dark.shadows = memory.take<Lying<Shadow>>(slots), dark.contacts = memory.take<Lying<Contact>>(slots), dark.pools = memory.take<Lying<Beam>>(lamps);
    for (float*& row : dark.edges) row = memory.take<float>(slots * corners + LANES);
    dark.blocks = pairs >> BITS;
    dark.shade = memory.take<float>(pairs), dark.keep = memory.take<float>(pairs), dark.levels = memory.take<int32_t>(pairs);
    dark.glow = memory.take<uint64_t>(pairs);
    dark.dark_blocks = memory.take<uint8_t>(pairs >> BITS), dark.light_blocks = memory.take<uint8_t>(pairs >> BITS);
    dark.corners = memory.take<Thrown>(corners);
    dark.bases = memory.take<float>(corners + LANES), dark.slopes = memory.take<float>(corners + LANES);
    dark.order = memory.take<int32_t>(corners);
    dark.outline = memory.take<int32_t>(2 * corners + 2);
    return memory.next;
}
} // namespace

// Draw scenes `first` to `last` - 1, `strip` columns at a time. Returns the number of a scene that has too many triangles, -1
// if there is none, or NO_MEMORY.
extern "C" __attribute__((visibility("default"))) int64_t draw(const Draw* in)
{
    Town town = town_of(in);
    Canvas canvas;
    Dark dark;
    Scratch* scratch = (Scratch*)malloc(sizeof(Scratch));
    if (!scratch) return NO_MEMORY;
    int64_t size = lay_out((char*)4096, in, canvas, *scratch, dark) - (char*)4096;
    void* memory = calloc(size + 64, 1);
    if (!memory) return free(scratch), NO_MEMORY;
    lay_out((char*)(((uintptr_t)memory + 63) / 64 * 64), in, canvas, *scratch, dark);
    for (int64_t t = 0; t < 1 << TAG_BITS; t++) scratch->planes[t][2] = 1, scratch->planes[t][3] = INFINITY;
    for (int64_t i = 0; i < pairs_of(in->strip); i++) dark.keep[i] = 1;
    int64_t failed = -1, pixels = in->width * in->height;
    bool geometry = in->depths > 0;
    canvas.full = 2 * in->width + 1, canvas.height = 2 * in->height + 1;
    for (int64_t n = in->first; n < in->last && failed < 0; n++) {
        const float *view = in->views + 15 * n, *light = in->lights + LIGHT_COLUMNS * n;
        uint32_t seed = in->fall_seeds[n];
        uint8_t* rgb = in->rgb + 3 * pixels * n;
        Things things = things_of(in, n);
        for (int64_t left = 0; left < in->width; left += in->strip) {
            int64_t columns = least(in->strip, in->width - left);
            canvas.first = 2 * left, canvas.width = 2 * columns + 1;
            if (light[COVER] > 0) cover_sky(view, light, seed, canvas, scratch->cover);
            else memset(canvas.samples, 0, canvas.height * canvas.stride * sizeof *canvas.samples);
            int64_t grounds = draw_instances(view, light, town, things, canvas, geometry, *scratch);
            if (grounds < 0) {
                failed = n;
                break;
            }
            collect_shadows(view, light, town, things, canvas, dark);
            collect_contacts(view, town, things, canvas, dark);
            collect_pools(view, light, town, things, canvas, dark);
            resolve_colour(view, light, canvas, columns, left, in->width, in->height, grounds, *scratch, dark, rgb);
            if (geometry) resolve_geometry(view, canvas, columns, left, in->width, in->height, *scratch, in->depth + pixels * n, in->ids_out + pixels * n);
        }
        Picture picture = {in->width, in->height, scratch->nearness, rgb};
        lay(view, light, seed, town, things, picture);
    }
    free(memory), free(scratch);
    return failed;
}

// Lay stars, halos of lamps, rain and snow over a finished picture.
extern "C" __attribute__((visibility("default"))) int64_t lay_over(const LayOver* in)
{
    const float *view = in->views, *light = in->lights;
    Town town = town_of(in);
    Things things = things_of(in, 0);
    Picture picture = {in->width, in->height, in->nearness, in->rgb};
    lay(view, light, in->fall_seeds[0], town, things, picture);
    return 0;
}

// The colours of faces before the air.
extern "C" __attribute__((visibility("default"))) int64_t shade_faces(const ShadeFaces* in)
{
    Town town = town_of(in);
    for (int64_t t = 0; t < in->shaded; t++) {
        int material = in->face_materials[t];
        u32 style = in->face_styles[t];
        Rgb colour = shade({in->light, (int)in->suns[t], town.kinds[material], base_of(town, material, style), style, in->face_parts[t], in->nz[t], in->facing[t], in->glance[t]});
        in->out[3 * t] = colour.r, in->out[3 * t + 1] = colour.g, in->out[3 * t + 2] = colour.b;
    }
    return 0;
}
