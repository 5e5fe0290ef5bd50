// One example by rejection sampling: the paper's procedure (sections 2.2, 6.3 and 6.5), from example() at the end upwards.
// Every draw has an address (component, example, attempt), so an example depends on the plan and its number alone.
#pragma once
#include "acceptance.hpp"
#include "street.hpp"
#include "weather.hpp"

// Rejection loops, as rows of `tried`; FOUND if none of them failed.
enum Loop { ENTITY, PLACEMENT, QUESTION, DISTRACTOR, FOUND };
// Components of the addresses of draws: the first four are those of the loops.
enum { KIND = 4, CAMERA, ANSWER, WEATHER, STREET, PHRASING, PAINT, COMPONENTS };
// Most attempts of a loop, attempts at a distractor before the scene is placed anew, scenes before another kind is drawn
// for it, and draws of kinds before an example is impossible.
enum { CAP = 10000, PATIENCE = 40, SCENES_A_KIND = 10, ROUNDS = CAP / PATIENCE, DRAWS = 30 };

// What examples are sampled from; `plan_of` in simtown/language/asking/paper.py makes it.
struct Plan {
    const uint64_t (*keys)[2];
    const double *subject, *object, *sums;
    int64_t entities, vehicles;
    const int64_t* relations;
    int64_t relation_count;
    const bool (*mirrors)[2];
    int64_t mirror_count, mirrors_of_three;
    bool exchangeable;
    const uint8_t* weathers;
    int64_t weather_count;
    const int64_t* phrasings;
    int64_t phrasing_count;
    const double* paints;
    int64_t paint_count;
    const bool* may_change;
    const double (*half)[2];
    PropKinds street;
    Relations relation_table;
    Weathers weather_table;
};

// Arrays of examples, to be filled.
struct Arrays {
    int16_t* entity;
    float* pose;
    int8_t* paint;
    int16_t* prop;
    float* prop_pose;
    uint16_t* prop_style;
    uint8_t* weather;
    float *intensity, *sun;
    uint32_t* fall_seed;
    const float* camera;
    bool* answer;
    int64_t *subject, *object, *relation, *phrasing;
    float *margin, *visible;
};

struct Question {
    Loop failed;
    int64_t subject, relation;
};

struct Sampler {
    const Plan& plan;
    Desk& desk;
    int64_t (*tried)[2];

    Words draw(int component, int64_t index, int64_t attempt, int64_t block = 0) const
    {
        return words(plan.keys[component], index, attempt, block);
    }

    Place place_of(int64_t slot) const
    {
        const Image& scene = desk.images[0];
        return stands(scene.pose[slot][0], scene.pose[slot][1], scene.camera);
    }

    // Metres by which a relation holds between two vehicles of the scene.
    double margin_of(int64_t relation, int64_t subject, int64_t object) const
    {
        return margin(plan.relation_table, relation, place_of(subject), place_of(object));
    }

    bool any_defined() const
    {
        for (int64_t i = 0; i < plan.relation_count; i++)
            if (truth(plan.relation_table, margin_of(plan.relations[i], 0, 1), plan.relations[i])) return true;
        return false;
    }

    // Draw the kinds of a scene's vehicles for the time `draw`, by equation 4, until they differ.
    bool draw_kinds(int64_t index, int64_t time)
    {
        int64_t* entity = desk.entity;
        for (int64_t attempt = time * CAP; attempt < time * CAP + CAP; attempt++) {
            tried[ENTITY][0]++;
            Words drawn = draw(ENTITY, index, attempt);
            for (int64_t slot = 0; slot < plan.vehicles; slot++)
                entity[slot] = pick(uniform(drawn.at[slot]), plan.sums + slot * plan.entities, plan.entities);
            if (entity[0] == entity[1]) continue;
            if (plan.vehicles == 3 && (entity[2] == entity[0] || entity[2] == entity[1])) continue;
            tried[ENTITY][1]++;
            return true;
        }
        return false;
    }

    // A kind of distractor as draw_kinds() draws it, given those of the two vehicles asked about.
    int64_t another_kind(int64_t index, int64_t scene) const
    {
        auto chance = [&](int64_t kind) {
            return kind == desk.entity[0] || kind == desk.entity[1] ? 0.0 : plan.subject[kind] + plan.object[kind];
        };
        double u = uniform(draw(KIND, index, scene).at[0]), total = 0, before = 0;
        for (int64_t kind = 0; kind < plan.entities; kind++) total += chance(kind);
        int64_t drawn = 0;
        for (int64_t kind = 0; kind < plan.entities; kind++) {
            before += chance(kind);
            drawn += before <= u * total;
        }
        return drawn;
    }

    // Place the two vehicles asked about until they fit and some relation between them is defined.
    bool place_pair(int64_t index, int64_t scene, float* visible)
    {
        Image& image = desk.images[0];
        const double *a = plan.half[desk.entity[0]], *b = plan.half[desk.entity[1]];
        for (int64_t attempt = scene * CAP; attempt < scene * CAP + CAP; attempt++) {
            tried[PLACEMENT][0]++;
            Words first = draw(PLACEMENT, index, attempt), second = draw(PLACEMENT, index, attempt, 1);
            Lanes lanes = pair_lanes(uniform(first.at[0]), a, b, image.camera, plan.exchangeable);
            Spot at = place(lanes.of_a, uniform(first.at[1]), uniform(first.at[2]), a, image.camera, plan.exchangeable);
            put(image, 0, (float)at.x, (float)at.y, (float)at.yaw);
            at = place(lanes.of_b, uniform(second.at[0]), uniform(second.at[1]), b, image.camera, plan.exchangeable);
            put(image, 1, (float)at.x, (float)at.y, (float)at.yaw);
            if (!any_defined() || too_close(desk.entity, image.pose, image.yaw, plan.half, 1, 0)) continue;
            if (!acceptable(desk, plan.mirrors, plan.mirror_count, 0, 2, visible)) continue;
            tried[PLACEMENT][1]++;
            return true;
        }
        return false;
    }

    // Propose questions from equation 5 until their truth is the answer. Proposals whose entities are not both in the
    // scene can never be accepted, so they are left out: the accepted distribution is the same.
    Question ask(int64_t index, bool answer, int64_t scene)
    {
        int64_t a = desk.entity[0], b = desk.entity[1];
        double forward = plan.subject[a] * plan.object[b], backward = plan.subject[b] * plan.object[a];
        for (int64_t attempt = scene * CAP; attempt < scene * CAP + CAP; attempt++) {
            tried[QUESTION][0]++;
            Words drawn = draw(QUESTION, index, attempt);
            int64_t subject = uniform(drawn.at[0]) * (forward + backward) >= forward;
            int64_t relation = plan.relations[(int64_t)(uniform(drawn.at[1]) * (double)plan.relation_count)];
            if (truth(plan.relation_table, margin_of(relation, subject, 1 - subject), relation) != (answer ? 1 : -1)) continue;
            tried[QUESTION][1]++;
            return {FOUND, subject, relation};
        }
        return {QUESTION, 0, 0};
    }

    // Whether the third vehicle changes the truth of neither the question nor its opposite: one of a kind that is asked
    // about could make it, or its opposite, true as well.
    bool unchanged(const Question& question) const
    {
        const Relations& table = plan.relation_table;
        int64_t subject = question.subject, object = 1 - subject, relation = question.relation, kind = desk.entity[2];
        Place s = place_of(subject), o = place_of(object), third = place_of(2);
        int alone = truth(table, margin(table, relation, s, o), relation); // the opposite's truth is this one's negative
        return (kind != desk.entity[subject] || truth(table, margin(table, relation, third, o), relation) == alone)
            && (kind != desk.entity[object] || truth(table, margin(table, relation, s, third), relation) == alone);
    }

    // Place the third vehicle until it fits and changes the truth of neither the question nor its opposite.
    bool place_distractor(int64_t index, int64_t scene, const Question& question, float* visible)
    {
        Image& image = desk.images[0];
        for (int64_t attempt = scene * CAP; attempt < scene * CAP + PATIENCE; attempt++) {
            tried[DISTRACTOR][0]++;
            Words drawn = draw(DISTRACTOR, index, attempt);
            Spot at = place_beside(uniform(drawn.at[0]), uniform(drawn.at[1]), desk.entity, 2, image.pose, image.yaw, plan.half, image.camera);
            put(image, 2, (float)at.x, (float)at.y, (float)at.yaw);
            if (too_close(desk.entity, image.pose, image.yaw, plan.half, 2, 0) || too_close(desk.entity, image.pose, image.yaw, plan.half, 2, 1)) continue;
            if (!unchanged(question) || !acceptable(desk, plan.mirrors, plan.mirrors_of_three, 2, 3, visible)) continue;
            tried[DISTRACTOR][1]++;
            return true;
        }
        return false;
    }

    // Place vehicles of the drawn kinds and find a question with the drawn answer.
    Question arrange(int64_t index, bool answer, float* visible)
    {
        Question question = {DISTRACTOR, 0, 0};
        for (int64_t scene = 0; question.failed == DISTRACTOR && scene < ROUNDS; scene++) {
            if (scene >= SCENES_A_KIND) desk.entity[2] = another_kind(index, scene);
            if (!place_pair(index, scene, visible)) return {PLACEMENT, 0, 0};
            question = ask(index, answer, scene);
            if (question.failed == FOUND && plan.vehicles == 3 && !place_distractor(index, scene, question, visible))
                question.failed = DISTRACTOR;
        }
        return question;
    }

    // Draw what does not depend on the vehicles' places: weather, street, words and paint.
    void dress(int64_t index, const Arrays& out, int64_t n) const
    {
        Weather weather = weather_of(plan.keys[WEATHER], index, plan.weathers, plan.weather_count, plan.weather_table);
        out.weather[n] = weather.kind, out.intensity[n] = (float)weather.intensity, out.fall_seed[n] = weather.seed;
        out.sun[2 * n] = (float)weather.azimuth, out.sun[2 * n + 1] = (float)weather.elevation;
        street_of(plan.keys[STREET], index, plan.weather_table.bare_trees[weather.kind], plan.weather_table.clouds[weather.kind],
                  plan.street, out.prop + n * SLOTS, (float (*)[5])out.prop_pose + n * SLOTS, out.prop_style + n * SLOTS);
        double u = uniform(draw(PHRASING, index, 0).at[0]);
        out.phrasing[n] = plan.phrasings[(int64_t)(u * (double)plan.phrasing_count)];
        Words drawn = draw(PAINT, index, 0);
        for (int64_t slot = 0; slot < plan.vehicles; slot++) {
            bool painted = plan.paint_count && plan.may_change[desk.entity[slot]];
            out.paint[n * plan.vehicles + slot] = painted ? (int8_t)pick(uniform(drawn.at[slot]), plan.paints, plan.paint_count) : -1;
        }
    }

    // Sample one example into row n. Returns FOUND, or the loop that found nothing acceptable.
    Loop example(int64_t index, const Arrays& out, int64_t n)
    {
        float* visible = out.visible + n * plan.vehicles;
        look_all(desk, plan.mirrors, plan.mirror_count, out.camera + 7 * n);
        // of examples 2j and 2j + 1 exactly one is answered yes
        bool answer = (uniform(draw(ANSWER, index / 2, 0).at[0]) < 0.5) != (index % 2 == 1);
        Question question = {ENTITY, 0, 0};
        for (int64_t time = 0; question.failed != FOUND; time++) {
            if (time == DRAWS) return question.failed;
            if (!draw_kinds(index, time)) return ENTITY;
            question = arrange(index, answer, visible);
        }
        int64_t subject = question.subject, object = 1 - subject;
        out.answer[n] = answer, out.subject[n] = subject, out.object[n] = object, out.relation[n] = question.relation;
        out.margin[n] = (float)margin_of(question.relation, subject, object);
        for (int64_t slot = 0; slot < plan.vehicles; slot++) {
            out.entity[n * plan.vehicles + slot] = (int16_t)desk.entity[slot];
            memcpy(out.pose + 3 * (n * plan.vehicles + slot), desk.images[0].pose[slot], 3 * sizeof(float));
        }
        dress(index, out, n);
        return FOUND;
    }
};
