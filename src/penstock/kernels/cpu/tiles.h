// How products are cut into tasks and tiles. All of it depends on shapes only.
#pragma once

#include <algorithm>
#include <cstdint>

namespace penstock {

inline int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Depth of products that run without a pause: a tile's rows stay in the first-level cache.
inline constexpr int64_t kTileDepth = 256;

// Rows of tiles so that they come out even.
inline int64_t EvenRows(int64_t rows, int64_t most) { return CeilDiv(rows, CeilDiv(rows, most)); }

// Tasks: each has its rows of the result, and its panels of columns.
struct TaskGrid {
  int64_t down = 1, across = 1;
};
// About `wanted` of them. Each reads its rows of the left side, an element of which costs as much as `row_weight`, and
// its columns of the right one.
inline TaskGrid CutTasks(int64_t rows, int64_t tile_rows, int64_t panels, int64_t columns, int64_t wanted,
                         double row_weight) {
  TaskGrid best;
  double least = 0;
  for (int64_t across = 1; across <= std::min(panels, wanted); ++across) {
    const int64_t down = std::min(CeilDiv(wanted, across), CeilDiv(rows, tile_rows));
    // How much larger the largest task is than the mean, and what all read.
    const double uneven = static_cast<double>(CeilDiv(panels, across) * CeilDiv(rows, down) * across * down) /
                          static_cast<double>(panels * rows);
    const double read = static_cast<double>(down * panels * columns) + static_cast<double>(across * rows) * row_weight;
    const double missing = static_cast<double>(std::max<int64_t>(1, CeilDiv(wanted, across * down)));
    const double cost = uneven * uneven * read * missing;
    if (least == 0 || cost < least) best = {down, across}, least = cost;
  }
  return best;
}

}  // namespace penstock
