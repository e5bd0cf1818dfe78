// Snappy's raw format: blocks of older checkpoints and of other programs' tables are compressed with it.
#pragma once

#include <string>
#include <string_view>

namespace penstock {

// False if `bytes` are no such block or would give more than `limit` bytes.
bool SnappyUncompress(std::string_view bytes, size_t limit, std::string* out);

}  // namespace penstock
