// Entry point: cutting JSON arrays into their records.
#include "entries.hpp"

// Walk over data from `position` on and note where records (the items of the outermost array) begin and end.
//
// `state` is kept from block to block: depth, in a string, what may come next (0 a record or the end, 1 a comma or the end, 2 a
// record, 3 nothing), bits of open brackets (1 a brace). `out`: how many offsets were written, where the walk stopped, and
// whether it stopped at a byte that cannot stand there.
extern "C" __attribute__((visibility("default"))) int64_t cut_records(const CutRecords* in)
{
    int64_t depth = in->state[0], inside = in->state[1], expected = in->state[2], kinds = in->state[3];
    int64_t count = 0, i = in->position, n = in->bytes;
    bool wrong = false;
    for (; i < n && count < in->room - 1; i++) {
        uint8_t c = in->data[i];
        if (inside) {
            if (c == '\\') inside = inside == 1 ? 2 : 1; // the next byte means itself, wherever the block ends
            else if (inside == 2) inside = 1;
            else if (c == '"') inside = 0;
        } else if (depth > 1) {
            if (c == '"') {
                inside = 1;
            } else if (c == '{' || c == '[') {
                if ((wrong = ++depth > 60)) break;
                kinds = kinds << 1 | (c == '{');
            } else if (c == '}' || c == ']') {
                if ((wrong = (kinds & 1) != (c == '}'))) break;
                kinds >>= 1;
                if (--depth == 1) in->places[count++] = i + 1, expected = 1;
            }
        } else if (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
            continue;
        } else if (depth == 0) {
            if ((wrong = c != '[' || expected != 0)) break;
            depth = 1, kinds = 0;
        } else if (c == '{' && (expected == 0 || expected == 2)) {
            depth = 2, kinds = kinds << 1 | 1;
            in->places[count++] = i;
        } else if (c == ',' && expected == 1) {
            expected = 2;
        } else if (c == ']' && expected != 2) {
            depth = 0, expected = 3;
        } else {
            wrong = true;
            break;
        }
    }
    in->state[0] = depth, in->state[1] = inside, in->state[2] = expected, in->state[3] = kinds;
    in->out[0] = count, in->out[1] = i, in->out[2] = wrong;
    return 0;
}
