// How threads share an array of rows which a list of rows changes, one after the other.
#pragma once

#include <algorithm>

#include "penstock/kernel/kernel_context.h"

namespace penstock {

// fn(first_row, last_row, first_column, last_column) for parts of `rows` rows of `width` elements of `size` bytes, each
// part on one thread, which so keeps the list's order. Columns are shared first: then nobody has to look for the rows
// that are its own. `cost`: about the nanoseconds of all.
template <class Fn>
void ShareRows(const KernelContext& k, int64_t rows, int64_t width, size_t size, int64_t cost, Fn fn) {
  if (rows == 0 || width == 0) return;
  constexpr int64_t kLeastBytes = 128, kLeastCost = 20000;
  const int64_t threads = k.step().intra_op ? k.step().intra_op->threads() : 1,
                wanted = std::clamp<int64_t>(cost / kLeastCost, 1, threads),
                across = std::clamp<int64_t>(width * static_cast<int64_t>(size) / kLeastBytes, 1, wanted),
                along = std::min(rows, (wanted + across - 1) / across);
  k.Parallel(across * along, cost / (across * along), [&](int64_t begin, int64_t end) {
    for (int64_t part = begin; part < end; ++part) {
      const int64_t column = part % across, row = part / across;
      fn(rows * row / along, rows * (row + 1) / along, width * column / across, width * (column + 1) / across);
    }
  });
}

// Asks for the first cache lines of [at, at + bytes), which are read, and perhaps written, soon.
inline void PrefetchRow(const void* at, int64_t bytes) {
  for (int64_t b = 0; b < std::min<int64_t>(bytes, 256); b += 64) __builtin_prefetch(static_cast<const char*>(at) + b);
}
inline constexpr int64_t kPrefetchAhead = 16;  // rows

}  // namespace penstock
