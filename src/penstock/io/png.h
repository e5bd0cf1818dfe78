// PNG images.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace penstock {

// Eight bits a channel: 1 grey, 2 grey and alpha, 3 colours, 4 colours and alpha. Rows from the top, without padding.
std::string EncodePng(std::span<const uint8_t> pixels, int64_t width, int64_t height, int channels);

}  // namespace penstock
