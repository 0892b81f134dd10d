// A controller in C++: the handle in a unique_ptr, errors as exceptions. It lists the schemes that it could play, and
// plays one over packets that all arrive 25 ms later and are acknowledged after 60.
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

#include "thalweg.h"

namespace {

int check(int answer) {
    if (answer < 0) {
        throw std::runtime_error(thalweg_last_error());
    }
    return answer;
}

struct Free {
    void operator()(thalweg_controller *controller) const { thalweg_controller_free(controller); }
};

using Controller = std::unique_ptr<thalweg_controller, Free>;

Controller make(const std::string &scheme) {
    thalweg_controller_config config = {};
    config.size = sizeof config;
    config.scheme = scheme.c_str();
    config.start = 500000;
    config.max = 2500000;
    thalweg_controller *controller = nullptr;
    check(thalweg_controller_new(&config, 0, &controller));
    return Controller(controller);
}

void each(void *, const char *name, const char *about, uint32_t takes) {
    if (takes & THALWEG_FOR_CONTROLLER) {
        std::printf("%-12s %s\n", name, about);
    }
}

void play(const std::string &scheme) {
    constexpr uint64_t millisecond = 1000000;
    Controller controller = make(scheme);
    for (uint64_t number = 0; number < 1000; number++) {
        uint64_t now = 20 * millisecond * number;
        if (thalweg_controller_next_timeout(controller.get()) <= now) {
            check(thalweg_controller_on_timeout(controller.get(), now));
        }
        thalweg_sent sent = {};
        sent.size = sizeof sent;
        sent.at = now;
        sent.key = number;
        sent.bytes = 1200;
        sent.probe = sent.frame = -1;
        check(thalweg_controller_on_sent(controller.get(), &sent, nullptr));
        if (number >= 3) {
            uint64_t before = number - 3;
            thalweg_ack ack = {sizeof ack, 0, before, (20 * before + 25) * millisecond};
            check(thalweg_controller_on_acks(controller.get(), now, &ack, 1, -1));
        }
    }
    std::printf("%s: %llu kbps\n", scheme.c_str(),
                static_cast<unsigned long long>(thalweg_controller_target(controller.get()) / 1000));
}

}  // namespace

int main() {
    try {
        check(thalweg_schemes(each, nullptr));
        play("gcc");
        play("gc");
    } catch (const std::exception &error) {
        std::printf("%s\n", error.what());
    }
    return 0;
}
