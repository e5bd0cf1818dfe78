// Snappy's raw format: blocks of older checkpoints, of other programs' tables and of snapshots are compressed with it.
#pragma once

#include <string>
#include <string_view>

namespace penstock {

inline constexpr size_t kSnappyBlock = 1 << 16;  // the most that is compressed together

// `bytes`, at most kSnappyBlock, compressed.
std::string SnappyCompress(std::string_view bytes);
// False if `bytes` are no such block or would give more than `limit` bytes.
bool SnappyUncompress(std::string_view bytes, size_t limit, std::string* out);

}  // namespace penstock
