#include "penstock/kernel/interrupts.h"

namespace penstock {

std::atomic<int> g_interrupts{0};

}  // namespace penstock
