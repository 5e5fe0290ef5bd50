// The values of programs in streets: what each part means is said in simtown/language/meaning/evaluate.py.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "entries.hpp"
#include "exact.hpp"

namespace {
enum { KNOWN, CLOSE, ILL_POSED };
// As simtown/language/meaning/programs.py has them, in order: the nodes, orders, attributes and ranges of numbers.
enum { ALL, FILTER, MOST, NTH, UNION, THE, A, EVERY, NO, RELATED, HAS, SAME, COMPARED, AMONG, HOLDS, EXIST, COUNT, QUERY, WEATHER,
       EQUAL, MORE, FEWER, AT_LEAST, AT_MOST, NOT, AND, OR, AT, EVER, ALWAYS, FIRST, EARLIER, DIFFERS, PASSES, NEARS, NODES };
enum { LEFTMOST, RIGHTMOST, NEAREST, FARTHEST, BIGGEST, SMALLEST };
enum { COLOUR, LANE, DIRECTION, KIND, GROUP, HIDDEN, SIGHT, DISTANCE, BOX, OF_WEATHER };
enum { NUMBER = 1000, ENTITY = 2000, WORD = 4000, LENGTH = 40, MOST_SLOTS = 64 };
enum { PERHAPS_SHOWN = 1, CALLED_SO, CALLED_SO_IF_PAINTED }; // simtown/language/meaning/views.py
// A relation is a row of a table: its measure, sign, margin, and whether a driver sees it. The measures: two of
// simtown/language/meaning/relations.py, then SOLIDS of programs.py.
enum { LATERAL, RADIAL, BETWEEN };
enum { MEASURE, SIGN, MARGIN, DRIVERS, COLUMNS };

typedef uint64_t Slots; // a bit a slot
struct Set {
    Slots sure, possible;
    bool some; // whether something surely belongs, though which is too close to say
};
struct One { // what "the ..." may mean; it is close if that may be several things, or perhaps nothing
    Slots may_be;
    bool close, exists;

    int slot() const { return may_be ? __builtin_ctzll(may_be) : 0; }
};
struct Truth {
    int is; // 1, -1, or 0 where it is too close to say
    double margin;
};
struct Point {
    double x, y;
};
struct Node {
    int name, count, number;
    const Node* parts[7];
};
struct Street {
    const int16_t *kind, *value, *solid, *called;
    const int8_t *sight, *colours, *hides, *met;
    const float *pose, *camera;
    const double *scale, *bulk;
    int64_t weather;
};
const Node NOTHING = {-1, 0, -1, {&NOTHING, &NOTHING, &NOTHING, &NOTHING, &NOTHING, &NOTHING, &NOTHING}};

Slots bit(int slot) { return (Slots)1 << slot; }
int count_of(Slots set) { return __builtin_popcountll(set); }
int first_of(Slots set) { return set ? __builtin_ctzll(set) : 0; }
int in(Set set, int slot) { return set.sure >> slot & 1 ? 1 : set.possible >> slot & 1 ? 0 : -1; }
int truth(bool surely, bool possibly) { return surely ? 1 : possibly ? 0 : -1; }
int beyond(double margin, double enough) { return margin > enough ? 1 : margin < -enough ? -1 : 0; }
double to_segment(Point p, Point a, Point b)
{
    double x = b.x - a.x, y = b.y - a.y, px = p.x - a.x, py = p.y - a.y, square = x * x + y * y;
    double along = square > 0 ? (px * x + py * y) / square : 0;
    along = along < 0 ? 0 : along > 1 ? 1 : along;
    px -= along * x, py -= along * y;
    return px * px + py * py;
}

double to_border(Point p, const Point* polygon, int64_t count)
{
    double nearest = INFINITY;
    for (int64_t i = 0; i < count; i++) nearest = least(nearest, to_segment(p, polygon[i], polygon[i + 1 < count ? i + 1 : 0]));
    return sqrt(nearest);
}

double turn(Point a, Point b, Point p) { return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x); }

// How deep a point lies in a convex polygon, counter-clockwise; negative outside.
double depth(Point p, const Point* polygon, int64_t count)
{
    bool inside = true;
    for (int64_t i = 0; i < count; i++) inside &= turn(polygon[i], polygon[i + 1 < count ? i + 1 : 0], p) >= 0;
    return inside ? to_border(p, polygon, count) : -to_border(p, polygon, count);
}

// The convex hull of points, which are sorted, into `hull`. Returns the number of its corners.
int64_t hull_of(Point* points, int64_t count, Point* hull)
{
    for (int64_t i = 1; i < count; i++) {
        Point p = points[i];
        int64_t at = i;
        for (; at > 0 && (points[at - 1].x > p.x || (points[at - 1].x == p.x && points[at - 1].y > p.y)); at--) points[at] = points[at - 1];
        points[at] = p;
    }
    int64_t found = 0, lower = 1;
    for (int64_t i = 0; i < 2 * count - 1; i++) {
        Point p = points[i < count ? i : 2 * count - 2 - i];
        if (i == count) lower = found;
        while (found > lower && turn(hull[found - 2], hull[found - 1], p) <= 1e-12) found--;
        hull[found++] = p;
    }
    return most(1, (int)found - 1);
}

struct Evaluator {
    const RunPrograms* in_;
    Point* room; // outlines of all slots, then two polygons more
    Street street;
    int slots, vehicles, used;
    bool ill_posed, idle, outlined[MOST_SLOTS];
    double margin, margin_of_close; // of what settles the answer, and of what is too close to say
    double ahead[MOST_SLOTS], along[MOST_SLOTS], slope[MOST_SLOTS], away[MOST_SLOTS];
    int64_t corners[MOST_SLOTS];
    Turn heading[MOST_SLOTS];
    Slots looked; // slots of which ahead, along (the view), slope and heading are known
    Node nodes[LENGTH];

    // Programs.

    const Node* read(const int16_t* numbers, int64_t length, int64_t& at)
    {
        if (at >= length || numbers[at] < 0 || used == LENGTH) return &NOTHING;
        Node& node = nodes[used++];
        node = NOTHING, node.number = numbers[at++];
        if (node.number >= 8 * NODES) return &node;
        node.name = node.number / 8, node.count = least(node.number % 8, 7);
        for (int k = 0; k < node.count; k++) node.parts[k] = read(numbers, length, at);
        return &node;
    }

    // The place of a word among those of its class.
    int place(const Node* word) const
    {
        int64_t at = word->number - WORD;
        return at >= 0 && at < in_->words ? in_->places[at] : 0;
    }

    int amount(const Node* word) const { return word->number - NUMBER; }

    // Where things are.

    float at(int slot, int column) const { return street.pose[3 * slot + column]; }

    void look(int slot)
    {
        if (looked >> slot & 1) return;
        looked |= bit(slot);
        Turn eye = turn_of(street.camera[3]), tilt = turn_of(street.camera[4]);
        double x = (double)at(slot, 0) - street.camera[0], y = (double)at(slot, 1) - street.camera[1];
        ahead[slot] = y * eye.cos - x * eye.sin;
        along[slot] = ahead[slot] * tilt.cos - (double)street.camera[2] * tilt.sin; // simtown/language/meaning/relations.py
        slope[slot] = (x * eye.cos + y * eye.sin) / along[slot];
        heading[slot] = turn_of(at(slot, 2));
    }

    // Metres from slot j to slot i, to the right or ahead: as the viewer sees it, or j's driver.
    double apart(int i, int j, bool radial, bool own)
    {
        look(i), look(j);
        if (!own) return radial ? ahead[i] - ahead[j] : (slope[i] - slope[j]) * (0.5 * (along[i] + along[j]));
        double x = (double)at(i, 0) - at(j, 0), y = (double)at(i, 1) - at(j, 1);
        return radial ? x * heading[j].cos + y * heading[j].sin : x * heading[j].sin - y * heading[j].cos;
    }

    const Point* outline(int slot)
    {
        Point* out = room + slot * in_->corners;
        if (outlined[slot]) return out;
        outlined[slot] = true;
        look(slot);
        int64_t solid = street.solid[slot] < 0 ? in_->solids_and_1 - 1 : street.solid[slot];
        const double* from = in_->outlines + 2 * solid * in_->corners;
        corners[slot] = in_->corner_count[solid];
        Turn to = heading[slot];
        for (int64_t k = 0; k < corners[slot]; k++) {
            double x = from[2 * k] * street.scale[slot], y = from[2 * k + 1] * street.scale[slot];
            out[k] = {x * to.cos - y * to.sin + at(slot, 0), x * to.sin + y * to.cos + at(slot, 1)};
        }
        return out;
    }

    // Metres between two outlines.
    double distance(int a, int b)
    {
        const Point *one = outline(a), *other = outline(b);
        double nearest = INFINITY;
        if (a == b) return 0;
        for (int64_t i = 0; i < corners[a]; i++) nearest = least(nearest, to_border(one[i], other, corners[b]));
        for (int64_t i = 0; i < corners[b]; i++) nearest = least(nearest, to_border(other[i], one, corners[a]));
        return nearest;
    }

    // Metres by which a thing stands between two others.
    double between(int slot, int a, int b)
    {
        const Point *one = outline(a), *other = outline(b);
        Point middle = {at(slot, 0), at(slot, 1)}, *both = room + MOST_SLOTS * in_->corners, *hull = both + 2 * in_->corners;
        memcpy(both, one, corners[a] * sizeof *both), memcpy(both + corners[a], other, corners[b] * sizeof *both);
        double whole = depth(middle, hull, hull_of(both, corners[a] + corners[b], hull));
        return least(whole, least(-depth(middle, one, corners[a]), -depth(middle, other, corners[b])));
    }

    // Sets and phrases.

    Set all(const Node* noun)
    {
        int row = noun->number >= 0 && noun->number < in_->numbers ? in_->noun_places[noun->number] : -1;
        Set found = {0, 0};
        for (int slot = 0; row >= 0 && slot < slots; slot++) {
            int kind = street.kind[slot], seen = street.sight[slot];
            if (kind < 0 || seen < 0) continue;
            bool belongs = in_->nouns[row * in_->kinds + kind];
            if (belongs && seen == 1) found.sure |= bit(slot);
            int may_be = in_->alike[row * in_->kinds + kind];
            if (belongs || may_be == PERHAPS_SHOWN) found.possible |= bit(slot);
            ill_posed |= may_be == CALLED_SO || (may_be == CALLED_SO_IF_PAINTED && street.called[slot] & in_->noun_colours[row]);
        }
        return found;
    }

    Set members(const Node* set)
    {
        Set found = {0, 0};
        switch (set->name) {
        case ALL: return all(set->parts[0]);
        case MOST:
        case NTH: return first(set);
        case UNION:
            for (int k = 0; k < set->count; k++) {
                Set part = meant(set->parts[k]);
                found.sure |= part.sure, found.possible |= part.possible;
            }
            return found;
        case FILTER: {
            Set of = members(set->parts[0]);
            bool some = false;
            int is[MOST_SLOTS];
            judge_all(set->parts[1], of.possible, is);
            for (Slots left = of.possible; left; left &= left - 1) {
                int slot = first_of(left);
                some |= of.sure >> slot & 1 && is[slot] < 0;
                if (is[slot] >= 0) found.possible |= bit(slot);
                if (is[slot] > 0) found.sure |= of.sure & bit(slot);
            }
            idle |= !some;
            return found;
        }
        }
        ill_posed = true;
        return found;
    }

    // The member that comes first, or n-th, in an order.
    Set first(const Node* set)
    {
        bool nth = set->name == NTH;
        int order = place(set->parts[nth]), which = nth ? amount(set->parts[0]) - 1 : 0;
        Set of = members(set->parts[nth + 1]), found = {0, 0};
        Before before = {order};
        if (set->count > nth + 2) {
            Set end = meant(set->parts[2]);
            of = {of.sure & ~end.possible, of.possible & ~end.sure};
            before.to(*this, set->parts[2]);
        }
        idle |= count_of(of.sure) < 2;
        for (Slots left = of.possible; left; left &= left - 1) {
            int slot = first_of(left);
            int surely = 0, perhaps = 0;
            for (Slots left = of.possible & ~bit(slot); left; left &= left - 1) {
                int other = first_of(left), is = before.is(*this, other, slot).is;
                surely += of.sure >> other & 1 && is > 0, perhaps += is >= 0;
            }
            if (which < surely || which > perhaps) continue;
            found.possible |= bit(slot);
            if (surely == perhaps) found.sure |= of.sure & bit(slot);
        }
        found.some = count_of(of.sure) > which;
        for (Slots left = found.possible; left; left &= left - 1)
            for (Slots others = of.possible & ~bit(first_of(left)); others; others &= others - 1) {
                double metres = before.is(*this, first_of(others), first_of(left)).margin;
                bool rivals = found.possible >> first_of(others) & 1;
                (rivals ? margin_of_close : margin) = least(rivals ? margin_of_close : margin, metres);
            }
        return found;
    }

    One unique(const Node* phrase)
    {
        Set set = members(phrase->parts[0]);
        int number = count_of(set.sure), at_most = count_of(set.possible);
        ill_posed |= !at_most || number > 1;
        return {set.possible, number != 1 || at_most != 1, set.sure || set.some};
    }

    // A truth of what "the ..." means: known if it is the same whichever thing that is.
    template <class Test> static Truth agreed(One one, const Test& test)
    {
        Truth all = {0, INFINITY};
        for (Slots left = one.may_be; left; left &= left - 1) {
            Truth is = test(first_of(left));
            all = {left == one.may_be || all.is == is.is ? is.is : 0, least(all.margin, is.margin)};
        }
        return all;
    }

    Set meant(const Node* phrase)
    {
        Set set = members(phrase->parts[0]);
        if (phrase->name == THE && unique(phrase).close) set.sure = 0;
        return set;
    }

    // What "a", "every" or "no" is about.
    Set those(const Node* phrase)
    {
        Set set = members(phrase->parts[0]);
        ill_posed |= phrase->name == EVERY && !set.possible;
        idle |= phrase->name == EVERY && count_of(set.sure) < 2;
        return set;
    }

    // Relations of a thing in slot i to one in slot j.

    struct Relation {
        const double* row;

        Truth is(Evaluator& own, int i, int j) const
        {
            if (row[DRIVERS] && j >= own.vehicles) return {-1, INFINITY};
            double metres = row[SIGN] * own.apart(i, j, row[MEASURE] == RADIAL, row[DRIVERS]);
            return {beyond(metres, row[MARGIN]), fabs(metres)};
        }
    };

    // Whether one vehicle drives past another, or is nearest to it: as a table says.
    struct Met {
        Truth is(Evaluator& own, int i, int j) const
        {
            if (i >= own.vehicles || j >= own.vehicles) return {-1, INFINITY};
            return {own.street.met[i * own.vehicles + j], INFINITY};
        }
    };

    struct Same {
        int attribute;

        Truth is(Evaluator& own, int i, int j) const
        {
            if (i >= own.vehicles || j >= own.vehicles) return {-1, INFINITY};
            int one = own.value(i, attribute), other = own.value(j, attribute);
            return {one < 0 || other < 0 ? 0 : one == other ? 1 : -1, INFINITY};
        }
    };

    // Whether i comes before j in an order; with an end, of distances from what a phrase means.
    struct Before {
        int order;
        bool from_end = false;
        One end = {0, false, false};

        void to(Evaluator& own, const Node* phrase) { end = own.unique(phrase), from_end = true; }

        double value(Evaluator& own, int slot) const
        {
            if (order == BIGGEST || order == SMALLEST) return order == BIGGEST ? own.street.bulk[slot] : -own.street.bulk[slot];
            if (!from_end && isnan(own.away[slot])) {
                const Point* border = own.outline(slot);
                own.away[slot] = to_border({own.street.camera[0], own.street.camera[1]}, border, own.corners[slot]);
            }
            double metres = from_end ? own.distance(slot, end.slot()) : own.away[slot];
            return order == NEAREST ? -metres : metres;
        }

        Truth is(Evaluator& own, int i, int j) const
        {
            if (order == LEFTMOST || order == RIGHTMOST) {
                double right = own.apart(i, j, false, false);
                return {beyond(order == RIGHTMOST ? right : -right, own.in_->relations[MARGIN]), fabs(right)};
            }
            double more = value(own, i) - value(own, j);
            return {end.close ? 0 : beyond(more, own.in_->constants[0]), fabs(more)};
        }
    };

    // The truth of a relation of a slot to what a phrase means. What an end possibly is, is left out.
    template <class Relation> Truth over(const Node* phrase, const Relation& relation, int slot, Set end = {0, 0})
    {
        if (phrase->name == AND || phrase->name == OR) {
            Truth all = over(phrase->parts[0], relation, slot, end);
            for (int k = 1; k < phrase->count; k++) all = joined(phrase->name, all, over(phrase->parts[k], relation, slot, end));
            return all;
        }
        if (phrase->name == THE) {
            One other = unique(phrase);
            ill_posed |= !other.close && in(end, other.slot()) > 0;
            Truth is = agreed(other, [&](int one) {
                return one == slot ? Truth{-1, INFINITY} : in(end, one) == 0 ? Truth{0, INFINITY} : relation.is(*this, slot, one);
            });
            return {other.close && !other.exists ? 0 : is.is, is.margin};
        }
        Set set = those(phrase);
        set = {set.sure & ~end.possible & ~bit(slot), set.possible & ~end.sure & ~bit(slot)};
        Truth all = {phrase->name == EVERY ? 1 : -1, INFINITY};
        for (Slots left = set.possible; left; left &= left - 1) {
            int other = first_of(left);
            Truth is = relation.is(*this, slot, other);
            quantify(phrase->name, all.is, in(set, other), is.is), all.margin = least(all.margin, is.margin);
        }
        return {settled(phrase->name, all.is, set), all.margin};
    }

    static Truth joined(int join, Truth a, Truth b) { return {join == AND ? least(a.is, b.is) : most(a.is, b.is), least(a.margin, b.margin)}; }

    static void quantify(int name, int& all, int belongs, int is)
    {
        all = name == EVERY ? least(all, most(-belongs, is)) : most(all, least(belongs, is));
    }

    static int settled(int name, int all, Set set)
    {
        if (name == EVERY) return least(all, truth(set.sure, set.possible));
        return name == NO ? -all : all;
    }

    // Predicates.

    int value(int slot, int attribute) const { return street.value[slot * in_->attributes + attribute]; }

    Truth judge(const Node* test, int slot)
    {
        const Node *const* parts = test->parts;
        switch (test->name) {
        case NOT: {
            Truth is = judge(parts[0], slot);
            return {-is.is, is.margin};
        }
        case AND:
        case OR: {
            Truth all = judge(parts[0], slot);
            for (int k = 1; k < test->count; k++) all = joined(test->name, all, judge(parts[k], slot));
            return all;
        }
        case HAS: return {slot < vehicles ? has(slot, place(parts[0]), place(parts[1])) : -1, INFINITY};
        case AMONG: return {in(meant(parts[0]), slot), INFINITY};
        case SAME: return over(parts[1], Same{place(parts[0])}, slot);
        case RELATED: {
            const double* row = in_->relations + COLUMNS * place(parts[0]);
            if (row[MEASURE] != BETWEEN) return over(parts[1], Relation{row}, slot);
            return is_between(slot, unique(parts[1]), unique(parts[2]), row[MARGIN]);
        }
        case PASSES:
        case NEARS: return over(parts[0], Met{}, slot);
        case COMPARED: {
            Before before = {place(parts[0])};
            if (test->count < 3) return over(parts[1], before, slot);
            before.to(*this, parts[2]);
            Set end = meant(parts[2]);
            Truth is = over(parts[1], before, slot, end);
            return {in(end, slot) > 0 ? -1 : is.is, is.margin};
        }
        }
        ill_posed = true;
        return {0, INFINITY};
    }

    int has(int slot, int attribute, int wanted) const
    {
        if (attribute == COLOUR) return street.colours[slot * in_->colour_words + wanted];
        if (attribute == SIGHT) return wanted ? -street.hides[slot] : street.hides[slot];
        int is = value(slot, attribute);
        return is < 0 && attribute == DIRECTION ? 0 : is == wanted ? 1 : -1;
    }

    Truth is_between(int slot, One a, One b, double enough)
    {
        ill_posed |= a.slot() == b.slot() && !a.close && !b.close;
        Truth is = agreed(a, [&](int one) {
            return agreed(b, [&](int other) {
                if (one == other) return Truth{0, INFINITY};
                double metres = slot == one || slot == other ? -INFINITY : between(slot, one, other);
                return Truth{beyond(metres, enough), fabs(metres)};
            });
        });
        return {(a.close && !a.exists) || (b.close && !b.exists) ? 0 : is.is, is.margin};
    }

    // The truth of a predicate of each of some slots. The parts of a phrase are looked at even if there are none.
    void judge_all(const Node* test, Slots subjects, int* is)
    {
        if (!subjects) {
            double before = margin, close_before = margin_of_close;
            judge(test, 0), margin = before, margin_of_close = close_before;
        }
        for (Slots left = subjects; left; left &= left - 1) {
            int slot = first_of(left);
            Truth found = judge(test, slot);
            is[slot] = found.is, margin = least(margin, found.margin);
        }
    }

    // Questions.

    // What a predicate is a relation to, all the same: "every bus left of the school bus" is about the other buses.
    Set references(const Node* test)
    {
        const Node *const* parts = test->parts;
        switch (test->name) {
        case NOT: return references(parts[0]);
        case AND:
        case OR: return together(test, [&](const Node* part) { return references(part); });
        case SAME:
        case COMPARED: return referents(parts[1]);
        case PASSES:
        case NEARS: return referents(parts[0]);
        case RELATED: {
            Set found = referents(parts[1]);
            if (test->count < 3) return found;
            Set other = referents(parts[2]);
            return {found.sure | other.sure, found.possible | other.possible};
        }
        }
        return {0, 0};
    }

    Set referents(const Node* phrase)
    {
        if (phrase->name == THE) return meant(phrase);
        if (phrase->name == AND || phrase->name == OR)
            return together(phrase, [&](const Node* part) { return referents(part); });
        return {0, 0};
    }

    // What any of some parts is about ("and"), or each ("or").
    template <class Find> static Set together(const Node* whole, const Find& find)
    {
        Set all = find(whole->parts[0]);
        for (int k = 1; k < whole->count; k++) {
            Set part = find(whole->parts[k]);
            if (whole->name == AND) all.sure |= part.sure, all.possible |= part.possible;
            else all.sure &= part.sure, all.possible &= part.possible;
        }
        return all;
    }

    int holds(const Node* phrase, const Node* test)
    {
        int is[MOST_SLOTS], all;
        if (phrase->name == AND || phrase->name == OR) {
            all = holds(phrase->parts[0], test);
            for (int k = 1; k < phrase->count; k++) {
                int other = holds(phrase->parts[k], test);
                all = phrase->name == AND ? least(all, other) : most(all, other);
            }
            return all;
        }
        if (phrase->name == THE) {
            One one = unique(phrase);
            judge_all(test, one.may_be, is);
            all = agreed(one, [&](int slot) { return Truth{is[slot], INFINITY}; }).is;
            if (!one.close || one.exists) return all;
            ill_posed |= all != 0; // all that it may be agree, but perhaps there is none
            return 0;
        }
        Set set = those(phrase);
        if (phrase->name == EVERY) {
            Set out = references(test);
            set = {set.sure & ~out.possible, set.possible & ~out.sure};
            ill_posed |= !set.possible;
            idle |= count_of(set.sure) < 2;
        }
        judge_all(test, set.possible, is);
        all = phrase->name == EVERY ? 1 : -1;
        for (Slots left = set.possible; left; left &= left - 1)
            quantify(phrase->name, all, in(set, first_of(left)), is[first_of(left)]);
        return settled(phrase->name, all, set);
    }

    struct Range {
        int low, high;
    };

    Range counted(const Node* node)
    {
        if (node->name != COUNT) return {amount(node), amount(node)};
        Set set = members(node->parts[0]);
        return {count_of(set.sure), count_of(set.possible)};
    }

    int is_true(const Node* node)
    {
        const Node *const* parts = node->parts;
        switch (node->name) {
        case NOT: return -is_true(parts[0]);
        case AND:
        case OR: {
            int all = is_true(parts[0]);
            for (int k = 1; k < node->count; k++) {
                int other = is_true(parts[k]);
                all = node->name == AND ? least(all, other) : most(all, other);
            }
            return all;
        }
        case HOLDS: return holds(parts[0], parts[1]);
        case EXIST: {
            Set set = members(parts[0]);
            return truth(set.sure, set.possible);
        }
        case WEATHER: {
            bool found = false;
            for (int k = 0; k < node->count; k++) found |= place(parts[k]) == street.weather;
            return street.weather < 0 ? 0 : found ? 1 : -1;
        }
        case EQUAL:
        case MORE:
        case FEWER:
        case AT_LEAST:
        case AT_MOST: {
            Range a = counted(parts[0]), b = counted(parts[1]);
            if (node->name == EQUAL)
                return truth(a.low == a.high && b.low == b.high && a.low == b.low, a.low <= b.high && b.low <= a.high);
            Range x = node->name == FEWER || node->name == AT_MOST ? b : a, y = node->name == FEWER || node->name == AT_MOST ? a : b;
            int strict = node->name == MORE || node->name == FEWER;
            return truth(x.low >= y.high + strict, x.high >= y.low + strict);
        }
        }
        ill_posed = true;
        return 0;
    }

    // The answer, and whether it is close; the number, if it has one.
    int64_t ask(const Node* node, bool& close, double& number)
    {
        if (node->name == COUNT) {
            Range range = counted(node);
            close = range.low != range.high;
            return range.low;
        }
        if (node->name != QUERY) {
            int is = is_true(node);
            close = is == 0;
            return is > 0;
        }
        int attribute = place(node->parts[0]);
        if (attribute == OF_WEATHER) {
            close = street.weather < 0;
            return street.weather;
        }
        One one = unique(node->parts[1]);
        close = one.close;
        if (attribute == DISTANCE) {
            One other = unique(node->parts[2]);
            ill_posed |= one.slot() == other.slot() && !one.close && !other.close;
            close |= other.close, number = distance(one.slot(), other.slot());
            return (int64_t)nearbyint(number);
        }
        if (one.slot() >= vehicles) {
            ill_posed |= !one.close;
            return 0;
        }
        if (attribute == BOX) number = one.slot();
        int64_t is = value(one.slot(), attribute == BOX ? SIGHT : attribute);
        bool agree = is >= 0, whichever = one.exists && attribute != BOX;
        for (Slots left = one.may_be; left; left &= left - 1) {
            int slot = first_of(left);
            agree &= slot < vehicles && value(slot, attribute == BOX ? SIGHT : attribute) == is;
        }
        close = is < 0 || (one.close && !(agree && whichever));
        // a reader would give the value, though perhaps there is no such thing, or its box is another one
        ill_posed |= one.close && agree && !whichever;
        return is;
    }

    void run(int64_t row)
    {
        int64_t begin = 0;
        used = 0, ill_posed = idle = false, margin = margin_of_close = INFINITY, looked = 0;
        for (int slot = 0; slot < slots; slot++) away[slot] = NAN, outlined[slot] = false;
        const Node* root = read(in_->programs + row * in_->length, in_->length, begin);
        bool close = false;
        in_->number[row] = NAN;
        in_->answer[row] = ask(root, close, in_->number[row]);
        in_->state[row] = ill_posed ? ILL_POSED : close ? CLOSE : KNOWN;
        in_->margin[row] = close ? least(margin, margin_of_close) : margin, in_->idle[row] = idle;
    }
};
} // namespace

// Run the programs of streets, each in its own.
extern "C" __attribute__((visibility("default"))) int64_t run_programs(const RunPrograms* in)
{
    Evaluator* own = (Evaluator*)calloc(1, sizeof(Evaluator) + (MOST_SLOTS + 4 + 1) * in->corners * sizeof(Point));
    if (!own) return NO_MEMORY;
    int64_t s = in->slots, v = in->vehicles;
    own->in_ = in, own->room = (Point*)(own + 1), own->slots = (int)s, own->vehicles = (int)v;
    for (int64_t n = 0; n < in->scenes && s <= MOST_SLOTS; n++) {
        own->street = {in->kind + n * s, in->value + n * v * in->attributes, in->solid + n * s, in->called + n * v, in->sight + n * s,
                       in->colours + n * v * in->colour_words, in->hides + n * v, in->met + n * v * v,
                       in->pose + 3 * n * s, in->camera + 7 * n,
                       in->scale + n * s, in->bulk + n * s, in->weather[n]};
        own->run(n);
    }
    free(own);
    return 0;
}
