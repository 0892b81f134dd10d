/*
 * Replays a recording of departures and reports through a controller, and prints after each report the time, the target
 * and the window:
 *
 *     replay SCHEME FILE
 *
 * A line of the recording is `sent TIME KEY BYTES` or `rtcp TIME HEX`, with TIME in ns; transport-wide sequence numbers
 * are the low 16 bits of KEY. Output: `TIME TARGET WINDOW`, in ns, bit/s and bytes, `-` for no window.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "thalweg.h"

static int failed(const char *what) {
    fprintf(stderr, "%s: %s\n", what, thalweg_last_error());
    return 1;
}

/* The bytes of a hexadecimal text, up to the end of the line. */
static size_t unhex(const char *text, uint8_t *bytes, size_t room) {
    size_t length = 0;
    unsigned byte;
    while (length < room && sscanf(text + 2 * length, "%2x", &byte) == 1) {
        bytes[length++] = (uint8_t)byte;
    }
    return length;
}

/* The controller's timer, as a program with a timer would have called it. */
static int pass_time(thalweg_controller *controller, uint64_t until) {
    uint64_t timeout;
    while ((timeout = thalweg_controller_next_timeout(controller)) <= until) {
        if (thalweg_controller_on_timeout(controller, timeout) < 0) {
            return failed("timeout");
        }
    }
    return 0;
}

static int report(thalweg_controller *controller, uint64_t at, const char *hex) {
    uint8_t bytes[1500];
    size_t length = unhex(hex, bytes, sizeof bytes);
    thalweg_limits limits;
    memset(&limits, 0, sizeof limits);
    limits.size = sizeof limits;
    if (thalweg_controller_on_rtcp(controller, at, bytes, length) < 0) {
        return failed("rtcp");
    }
    if (thalweg_controller_limits(controller, &limits) < 0) {
        return failed("limits");
    }
    printf("%" PRIu64 " %" PRIu64, at, limits.target);
    if (limits.has & THALWEG_HAS_WINDOW) {
        printf(" %" PRIu64 "\n", limits.window);
    } else {
        printf(" -\n");
    }
    return 0;
}

static int depart(thalweg_controller *controller, uint64_t at, uint64_t key, uint64_t bytes) {
    thalweg_sent sent;
    memset(&sent, 0, sizeof sent);
    sent.size = sizeof sent;
    sent.at = at;
    sent.key = key;
    sent.bytes = bytes;
    sent.probe = sent.frame = -1;
    return thalweg_controller_on_sent(controller, &sent, NULL) < 0 ? failed("sent") : 0;
}

static int replay(thalweg_controller *controller, FILE *file) {
    char line[4096];
    int problem = 0;
    while (!problem && fgets(line, sizeof line, file)) {
        uint64_t at, key, bytes;
        int hex = 0;
        if (sscanf(line, "sent %" SCNu64 " %" SCNu64 " %" SCNu64, &at, &key, &bytes) == 3) {
            problem = pass_time(controller, at) || depart(controller, at, key, bytes);
        } else if (sscanf(line, "rtcp %" SCNu64 " %n", &at, &hex) == 1 && hex > 0) {
            problem = pass_time(controller, at) || report(controller, at, line + hex);
        } else {
            fprintf(stderr, "neither a departure nor a report: %s", line);
            problem = 1;
        }
    }
    return problem;
}

int main(int count, char **arguments) {
    thalweg_controller_config config;
    thalweg_controller *controller = NULL;
    FILE *file;
    int problem;
    if (count != 3) {
        fprintf(stderr, "usage: replay SCHEME FILE\n");
        return 2;
    }
    if (!(file = fopen(arguments[2], "r"))) {
        perror(arguments[2]);
        return 2;
    }
    memset(&config, 0, sizeof config);
    config.size = sizeof config;
    config.scheme = arguments[1];
    problem = thalweg_controller_new(&config, 0, &controller) < 0 ? failed(arguments[1]) : replay(controller, file);
    thalweg_controller_free(controller);
    fclose(file);
    return problem;
}
