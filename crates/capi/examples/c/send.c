/*
 * Sends frames of zeros as RTP over UDP for some seconds, by an engine that decides what leaves when, and prints each
 * second what it sent:
 *
 *     send ADDRESS PORT SCHEME SECONDS
 *
 * The receiver answers with transport-wide feedback for header extension 1: `cargo run -p thalweg-capi --example
 * answer`. Where this program has zeros, yours has an encoder.
 */
#define _GNU_SOURCE /* ppoll */
#include <arpa/inet.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "thalweg.h"

enum { SSRC = 0x7468616c, HEADER = 20, INTERVAL = 33333333, SECOND = 1000000000 };

static uint64_t bytes_sent, frames_sent;

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * SECOND + (uint64_t)time.tv_nsec;
}

static int check(const char *what, int answer) {
    if (answer < 0) {
        fprintf(stderr, "%s: %s\n", what, thalweg_last_error());
        exit(1);
    }
    return answer;
}

/* An encoder that meets its target. */
static void encode(thalweg_engine *engine, const thalweg_encode *plan) {
    thalweg_encoded frame = {.size = sizeof frame, .width = plan->width, .height = plan->height, .quantizer = -1};
    const thalweg_target *target = &plan->targets[0];
    frame.bytes = target->value;
    if (target->kind == THALWEG_TARGET_RATE) {
        frame.bytes = target->value / 8 * (uint64_t)plan->interval / SECOND + 1;
    }
    frame.flags = plan->flags & THALWEG_ENCODE_KEYFRAME ? THALWEG_ENCODED_KEYFRAME : 0;
    frame.layer = plan->layer;
    check("encoded", thalweg_engine_on_encoded(engine, now(), &frame, 1));
}

static void put(uint8_t *to, uint32_t value, int bytes) {
    for (int place = 0; place < bytes; place++) {
        to[place] = (uint8_t)(value >> 8 * (bytes - 1 - place));
    }
}

/* Writes a packet as RTP with its transport-wide number (RFC 8285, one-byte headers) and sends it. */
static void transmit(thalweg_engine *engine, int udp, const thalweg_transmit *packet) {
    static uint16_t sequence;
    static uint8_t bytes[HEADER + 65000] = {0x90};
    uint32_t length = packet->kind == THALWEG_KIND_PADDING ? 0 : packet->length;
    bytes[1] = (uint8_t)(96 | (packet->flags & THALWEG_TRANSMIT_LAST ? 0x80 : 0));
    put(bytes + 2, sequence, 2);
    put(bytes + 4, (uint32_t)(packet->captured / 100000 * 9), 4);
    put(bytes + 8, SSRC, 4);
    put(bytes + 12, 0xbede0001, 4);
    put(bytes + 16, 0x11000000 | (uint32_t)(packet->id & 0xffff) << 8, 4);
    check("written", thalweg_engine_on_written(engine, packet->id, SSRC, sequence++));
    /* A full socket is a loss like any other. */
    (void)!send(udp, bytes, HEADER + length, MSG_DONTWAIT);
    bytes_sent += packet->bytes;
    frames_sent += (packet->flags & THALWEG_TRANSMIT_LAST) != 0;
}

/* Does all that the engine asks for; answers until when there is nothing to do. */
static uint64_t drain(thalweg_engine *engine, int udp) {
    thalweg_output output = {.size = sizeof output};
    for (;;) {
        check("poll", thalweg_engine_poll(engine, &output));
        switch (output.tag) {
        case THALWEG_ENCODE: encode(engine, &output.of.encode); break;
        case THALWEG_TRANSMIT: transmit(engine, udp, &output.of.transmit); break;
        case THALWEG_WAIT: return output.of.wait.until;
        default: break; /* which candidate it took, and what may be forgotten */
        }
    }
}

static void print_second(thalweg_engine *engine, uint64_t second) {
    thalweg_limits limits = {.size = sizeof limits};
    thalweg_sender_stats stats = {.size = sizeof stats};
    check("limits", thalweg_engine_limits(engine, &limits));
    check("stats", thalweg_engine_stats(engine, &stats));
    printf("%2" PRIu64 " s  sent %" PRIu64 " kbps, %" PRIu64 " frames; ", second, bytes_sent / 125, frames_sent);
    printf("estimate %" PRIu64 " kbps, round trip %" PRId64 " ms\n", limits.capacity / 1000, stats.srtt / 1000000);
    fflush(stdout);
    bytes_sent = frames_sent = 0;
}

static void run(thalweg_engine *engine, int udp, uint64_t begun, uint64_t seconds) {
    uint64_t picture = 0, second = 0, wake = begun;
    while (second < seconds) {
        uint64_t next = begun + picture * INTERVAL, at = now();
        uint64_t until = next < wake ? next : wake;
        struct pollfd ready = {.fd = udp, .events = POLLIN};
        struct timespec wait = {.tv_nsec = until <= at ? 0 : until - at < SECOND ? (long)(until - at) : SECOND - 1};
        uint8_t datagram[1500];
        ssize_t length;
        ppoll(&ready, 1, &wait, NULL);
        while ((length = recv(udp, datagram, sizeof datagram, MSG_DONTWAIT)) > 0) {
            if (thalweg_engine_on_rtcp(engine, now(), datagram, (size_t)length) == THALWEG_E_PARSE) {
                fprintf(stderr, "not RTCP: %s\n", thalweg_last_error());
            }
        }
        check("timeout", thalweg_engine_on_timeout(engine, now()));
        if (now() >= next) {
            check("picture", thalweg_engine_on_picture(engine, now(), picture++));
        }
        wake = drain(engine, udp);
        if (now() >= begun + (second + 1) * SECOND) {
            print_second(engine, ++second);
        }
    }
}

int main(int count, char **arguments) {
    thalweg_engine_config config = {.size = sizeof config, .width = 1280, .height = 720, .interval = INTERVAL};
    thalweg_engine *engine = NULL;
    struct sockaddr_in to = {.sin_family = AF_INET};
    int udp = socket(AF_INET, SOCK_DGRAM, 0);
    if (count != 5 || udp < 0 || inet_pton(AF_INET, arguments[1], &to.sin_addr) != 1) {
        fprintf(stderr, "usage: send ADDRESS PORT SCHEME SECONDS\n");
        return 2;
    }
    to.sin_port = htons((uint16_t)atoi(arguments[2]));
    config.scheme = arguments[3];
    if (connect(udp, (struct sockaddr *)&to, sizeof to) < 0) {
        perror("connect");
        return 2;
    }
    uint64_t begun = now();
    check("engine", thalweg_engine_new(&config, begun, &engine));
    run(engine, udp, begun, (uint64_t)atoi(arguments[4]));
    thalweg_engine_free(engine);
    return 0;
}
