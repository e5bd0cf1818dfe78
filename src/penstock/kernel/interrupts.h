#pragma once

#include <atomic>

namespace penstock {

// Number of SIGINTs so far (set by the front end's handler); a step that checks it is cancelled when it changes.
extern std::atomic<int> g_interrupts;

}  // namespace penstock
