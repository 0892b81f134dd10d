/*
 * A controller written in C, in an engine, over a path of 2 Mbit/s with 20 ms each way and 200 ms of queue, in virtual
 * time: it adds a rate with each report and halves its own when packets were lost. Prints each second what was sent and
 * what is allowed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "thalweg.h"

enum { PATH_BPS = 2000000, ONE_WAY = 20000000, QUEUE = 200000000 };
enum { INTERVAL = 33333333, REPORTS = 50000000, SECOND = 1000000000 };

typedef struct {
    uint64_t rate;
    uint64_t cut_at;
} aimd;

static void on_feedback(void *user, const thalweg_feedback *feedback) {
    aimd *self = user;
    int lost = 0;
    for (uint64_t place = 0; place < feedback->count; place++) {
        lost |= (feedback->reports[place].flags & THALWEG_REPORT_LOST) != 0;
    }
    if (!lost) {
        self->rate += 10000;
    } else if (feedback->srtt >= 0 && feedback->now - self->cut_at > 2 * (uint64_t)feedback->srtt) {
        self->rate = self->rate / 2 < 100000 ? 100000 : self->rate / 2;
        self->cut_at = feedback->now;
    }
}

static void limits(void *user, thalweg_limits *limits) {
    const aimd *self = user;
    limits->capacity = self->rate;
    limits->pacing = self->rate * 3 / 2;
}

static int check(const char *what, int answer) {
    if (answer < 0) {
        fprintf(stderr, "%s: %s\n", what, thalweg_last_error());
        exit(1);
    }
    return answer;
}

/* The path, and what its receiver has not reported yet. */
typedef struct {
    thalweg_ack acks[4096];
    size_t count;
    uint64_t free_at, bytes;
} path;

static void carry(path *path, const thalweg_transmit *packet) {
    thalweg_ack *ack = &path->acks[path->count];
    uint64_t begins = path->free_at > packet->at ? path->free_at : packet->at;
    *ack = (thalweg_ack){.size = sizeof *ack, .key = packet->id, .arrival = THALWEG_NEVER};
    path->bytes += packet->bytes;
    if (begins - packet->at <= QUEUE && path->count < sizeof path->acks / sizeof *path->acks) {
        path->free_at = begins + packet->bytes * 8 * SECOND / PATH_BPS;
        ack->arrival = path->free_at + ONE_WAY;
        path->count++;
    }
}

/* Reports what had arrived when the report left. */
static void report(thalweg_engine *engine, path *path, uint64_t now) {
    size_t arrived = 0;
    while (arrived < path->count && path->acks[arrived].arrival + ONE_WAY <= now) {
        arrived++;
    }
    check("acks", thalweg_engine_on_acks(engine, now, path->acks, arrived, -1));
    for (size_t place = arrived; place < path->count; place++) {
        path->acks[place - arrived] = path->acks[place];
    }
    path->count -= arrived;
}

static uint64_t drain(thalweg_engine *engine, path *path, uint64_t now) {
    thalweg_output output = {.size = sizeof output};
    for (;;) {
        check("poll", thalweg_engine_poll(engine, &output));
        if (output.tag == THALWEG_WAIT) {
            return output.of.wait.until;
        } else if (output.tag == THALWEG_TRANSMIT) {
            carry(path, &output.of.transmit);
        } else if (output.tag == THALWEG_ENCODE) {
            const thalweg_encode *plan = &output.of.encode;
            thalweg_encoded frame = {.size = sizeof frame, .quantizer = -1};
            frame.width = plan->width;
            frame.height = plan->height;
            frame.flags = plan->flags & THALWEG_ENCODE_KEYFRAME ? THALWEG_ENCODED_KEYFRAME : 0;
            frame.bytes = plan->targets[0].value / 8 * (uint64_t)plan->interval / SECOND + 1;
            check("encoded", thalweg_engine_on_encoded(engine, now, &frame, 1));
        }
    }
}

int main(void) {
    static path path;
    aimd self = {.rate = 300000};
    thalweg_controller_callbacks callbacks = {.size = sizeof callbacks, .report_size = sizeof(thalweg_report)};
    thalweg_engine_config config = {.size = sizeof config, .width = 1280, .height = 720, .interval = INTERVAL};
    thalweg_engine *engine = NULL;
    uint64_t picture = 0, next_report = REPORTS, second = 1, wake = 0;
    callbacks.on_feedback = on_feedback;
    callbacks.limits = limits;
    check("controller", thalweg_controller_from_callbacks(&callbacks, &self, NULL, &config.controller));
    check("engine", thalweg_engine_new(&config, 0, &engine));
    while (second <= 20) {
        uint64_t now = picture * INTERVAL;
        now = next_report < now ? next_report : now;
        now = wake < now ? wake : now;
        if (now >= second * SECOND) {
            printf("%2" PRIu64 " s  sent %4" PRIu64 " kbps, ", second, path.bytes / 125);
            printf("allowed %4" PRIu64 " kbps\n", self.rate / 1000);
            path.bytes = 0;
            second++;
        }
        check("timeout", thalweg_engine_on_timeout(engine, now));
        if (now == next_report) {
            report(engine, &path, now);
            next_report += REPORTS;
        }
        if (now == picture * INTERVAL) {
            check("picture", thalweg_engine_on_picture(engine, now, picture++));
        }
        wake = drain(engine, &path, now);
    }
    thalweg_engine_free(engine);
    return 0;
}
