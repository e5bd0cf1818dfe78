// Which version's answers kernels give where those of TensorFlow 1.15.5 and 2.21 differ for the same op and attributes.
#pragma once

#include <atomic>

namespace penstock {

// Whether the process behaves as version 2 (tf.enable_v2_behavior); version 1 at first.
inline std::atomic<bool> g_version_two{false};

inline bool BehavesAsVersionTwo() { return g_version_two.load(std::memory_order_relaxed); }

}  // namespace penstock
