#pragma once

namespace penstock {

// Penstock's own version: the only place that holds it.
inline constexpr char kVersion[] = "0.1.0";

// kVersion, as compiled into the library.
const char* Version();

}  // namespace penstock
