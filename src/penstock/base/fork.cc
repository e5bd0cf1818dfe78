#include "penstock/base/fork.h"

#include <pthread.h>

#include <atomic>

namespace penstock {
namespace {

std::atomic<int> g_generation{0};
const int g_registered = pthread_atfork(nullptr, nullptr, [] { g_generation.fetch_add(1); });

}  // namespace

int ForkGeneration() { return g_generation.load(std::memory_order_acquire); }

}  // namespace penstock
