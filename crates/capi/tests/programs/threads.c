/*
 * Two threads on one handle: a call that meets another is answered THALWEG_E_BUSY. Then two threads on a handle each.
 * For ThreadSanitizer.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "thalweg.h"

enum { CALLS = 20000 };

typedef struct {
    thalweg_controller *controller;
    atomic_int inside, refused;
    atomic_ulong busy, done, keys;
} shared;

static int check(const char *what, int answer) {
    if (answer < 0) {
        fprintf(stderr, "%s: %s\n", what, thalweg_last_error());
        exit(1);
    }
    return answer;
}

static thalweg_controller *make(void) {
    thalweg_controller_config config = {.size = sizeof config, .scheme = "gcc"};
    thalweg_controller *controller = NULL;
    check("new", thalweg_controller_new(&config, 0, &controller));
    return controller;
}

/* Within a call: waits until the other thread was refused. */
static void see(void *user, const char *name, double value) {
    shared *both = user;
    (void)name, (void)value;
    atomic_store(&both->inside, 1);
    while (!atomic_load(&both->refused)) {
    }
}

static void *inspect(void *user) {
    shared *both = user;
    check("inspect", thalweg_controller_inspect(both->controller, see, both));
    return NULL;
}

static void *hammer(void *user) {
    shared *both = user;
    for (int call = 0; call < CALLS; call++) {
        uint64_t key = atomic_fetch_add(&both->keys, 1);
        thalweg_sent sent = {.size = sizeof sent, .bytes = 1200, .key = key, .probe = -1, .frame = -1};
        int answer = thalweg_controller_on_sent(both->controller, &sent, NULL);
        if (answer == THALWEG_E_BUSY) {
            atomic_fetch_add(&both->busy, 1);
        } else {
            check("sent", answer);
            atomic_fetch_add(&both->done, 1);
        }
    }
    return NULL;
}

static void *alone(void *unused) {
    thalweg_controller *controller = make();
    (void)unused;
    for (uint64_t call = 0; call < CALLS / 10; call++) {
        uint64_t now = call * 10000000;
        thalweg_sent sent = {.size = sizeof sent, .at = now, .bytes = 1200, .key = call, .probe = -1, .frame = -1};
        check("sent", thalweg_controller_on_sent(controller, &sent, NULL));
        if (call > 5) {
            thalweg_ack ack = {.size = sizeof ack, .key = call - 5, .arrival = now - 25000000};
            check("acks", thalweg_controller_on_acks(controller, now, &ack, 1, -1));
        }
    }
    check("free", thalweg_controller_free(controller));
    return NULL;
}

int main(void) {
    static shared both;
    pthread_t threads[2];
    both.controller = make();
    pthread_create(&threads[0], NULL, inspect, &both);
    while (!atomic_load(&both.inside)) {
    }
    if (thalweg_controller_on_timeout(both.controller, 0) != THALWEG_E_BUSY ||
        thalweg_controller_free(both.controller) != THALWEG_E_BUSY) {
        fprintf(stderr, "not busy\n");
        return 1;
    }
    atomic_store(&both.refused, 1);
    pthread_join(threads[0], NULL);
    for (int place = 0; place < 2; place++) {
        pthread_create(&threads[place], NULL, hammer, &both);
    }
    for (int place = 0; place < 2; place++) {
        pthread_join(threads[place], NULL);
    }
    check("free", thalweg_controller_free(both.controller));
    for (int place = 0; place < 2; place++) {
        pthread_create(&threads[place], NULL, alone, NULL);
    }
    for (int place = 0; place < 2; place++) {
        pthread_join(threads[place], NULL);
    }
    printf("%lu calls done, %lu busy\n", atomic_load(&both.done), atomic_load(&both.busy));
    return atomic_load(&both.done) + atomic_load(&both.busy) == 2 * CALLS ? 0 : 1;
}
