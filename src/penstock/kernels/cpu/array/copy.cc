#include "penstock/kernels/cpu/array/copy.h"

#include <algorithm>
#include <cstring>

#include "penstock/base/branches.h"
#include "penstock/kernels/cpu/array/copy_one.h"
#include "penstock/kernels/cpu/loops.h"
#include "penstock/tensor/resource_handle.h"
#include "penstock/tensor/variant.h"

namespace penstock {

constinit BranchTable<7> single_copies{"copy/single", {"1", "2", "4", "8", "16", "other", "objects"}};

namespace {

constinit BranchTable<4> box_ways{"copy/box", {"one element", "repeated block", "turned", "lines"}};
constinit BranchTable<2> run_ways{"copy/run", {"elements", "joined elements"}};
constinit BranchTable<5> line_ways{"copy/line", {"scattered", "dense", "one value", "backwards", "strided"}};

// Plain elements are moved as integers of their size. Runs of small elements are moved as one larger integer, which
// need not be aligned.
template <class I>
struct __attribute__((packed, may_alias)) Word {
  I bits;
};
using Pair = long long __attribute__((vector_size(16)));

template <class T>
void Put(T& to, const T& from) {
  to = from;
}
template <class I>
void Put(Word<I>& to, const Word<I>& from) {
  to.bits = from.bits;
}

// A line of n elements.
template <class T>
void Line(char* to_bytes, int64_t ts, const char* from_bytes, int64_t fs, int64_t n) {
  T* to = reinterpret_cast<T*>(to_bytes);
  const T* from = reinterpret_cast<const T*>(from_bytes);
  if (ts != 1) {
    for (int64_t i = 0; i < n; ++i) Put(to[i * ts], from[i * fs]);
  } else if (fs == 1) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      std::memcpy(to, from, n * sizeof(T));
    } else {
      std::copy(from, from + n, to);
    }
  } else if (fs == 0) {
    const T value = *from;
    for (int64_t i = 0; i < n; ++i) Put(to[i], value);
  } else if (fs == -1) {
    for (int64_t i = 0; i < n; ++i) Put(to[i], from[-i]);
  } else {
    for (int64_t i = 0; i < n; ++i) Put(to[i], from[i * fs]);
  }
}

// to[j * ts + i] = from[i * fs + j] for i < n, j < m. Squares of a cache line's width: each line of the source is read
// once as a whole, each line of the target written once.
template <class T>
void Turn(char* to_bytes, int64_t ts, const char* from_bytes, int64_t fs, int64_t n, int64_t m) {
  constexpr int kSide = std::max<int>(64 / sizeof(T), 8);
  T* to = reinterpret_cast<T*>(to_bytes);
  const T* from = reinterpret_cast<const T*>(from_bytes);
  alignas(64) unsigned char buffer[kSide * kSide * sizeof(T)];
  T* square = reinterpret_cast<T*>(buffer);
  for (int64_t j = 0; j < m; j += kSide) {
    for (int64_t i = 0; i < n; i += kSide) {
      const T* source = from + i * fs + j;
      T* target = to + j * ts + i;
      if (i + kSide <= n && j + kSide <= m) {
        for (int a = 0; a < kSide; ++a) std::memcpy(square + a * kSide, source + a * fs, kSide * sizeof(T));
        for (int b = 0; b < kSide; ++b) {
          for (int a = 0; a < kSide; ++a) Put(target[b * ts + a], square[a * kSide + b]);
        }
      } else {
        const int64_t width = std::min<int64_t>(kSide, n - i), height = std::min<int64_t>(kSide, m - j);
        for (int64_t b = 0; b < height; ++b) {
          for (int64_t a = 0; a < width; ++a) Put(target[b * ts + a], source[a * fs + b]);
        }
      }
    }
  }
}

struct Mover {
  size_t size;
  void (*line)(char*, int64_t, const char*, int64_t, int64_t);
  void (*turn)(char*, int64_t, const char*, int64_t, int64_t, int64_t);  // null for elements with constructors
};

template <class T>
constexpr Mover kPlain{sizeof(T), &Line<T>, &Turn<T>};
template <class T>
constexpr Mover kObject{sizeof(T), &Line<T>, nullptr};

const Mover& PlainMover(size_t size) {
  switch (size) {
    case 1: return kPlain<Word<uint8_t>>;
    case 2: return kPlain<Word<uint16_t>>;
    case 4: return kPlain<Word<uint32_t>>;
    case 8: return kPlain<Word<uint64_t>>;
    case 16: return kPlain<Word<Pair>>;
    default: throw Internal("no elements of ", size, " bytes");
  }
}

const Mover& MoverOf(DataType type) {
  switch (type) {
    case DT_STRING: return kObject<TString>;
    case DT_RESOURCE: return kObject<ResourceHandle>;
    case DT_VARIANT: return kObject<Variant>;
    default: return PlainMover(DataTypeSize(type));
  }
}

// Nanoseconds to move so many bytes, about.
int64_t CostOf(int64_t bytes) { return 1 + bytes / 8; }

// Copies a box of plain elements in which a short, dense block of the target is repeated along an axis: the block is
// made once, the rest are copies of it. False, and nothing is done, if there is no such axis. `axes` are as CopyBox
// sorts them.
bool CopyRepeated(const KernelContext& k, DataType type, std::span<const CopyAxis> axes, char* to, const char* from) {
  constexpr int64_t kLongestBlock = 4 << 10, kLeastBytes = 4 << 10, kPieceBytes = 64 << 10;
  const int64_t size = static_cast<int64_t>(DataTypeSize(type));
  int64_t block = 1;  // elements behind axis i, if they are dense
  size_t i = axes.size();
  while (i > 0 && axes[i - 1].to == block && (axes[i - 1].from != 0 || i == axes.size())) block *= axes[--i].n;
  if (i == 0 || i == axes.size() || axes[--i].to != block || axes[i].from != 0) return false;
  const int64_t times = axes[i].n, block_bytes = block * size;
  if (block_bytes > kLongestBlock || block_bytes * times < kLeastBytes) return false;
  const std::span<const CopyAxis> outer = axes.first(i), inner = axes.subspan(i + 1);
  int64_t count = 1;
  for (const CopyAxis& axis : outer) count *= axis.n;
  const int64_t piece = std::min(times, std::max<int64_t>(kPieceBytes / block_bytes, 1)),
                pieces = (times + piece - 1) / piece;
  k.Parallel(count * pieces, CostOf(piece * block_bytes), [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t first = unit % pieces * piece, bytes = std::min(piece, times - first) * block_bytes;
      char* target = to + first * block_bytes;
      const char* source = from;
      int64_t rest = unit / pieces;
      for (size_t a = outer.size(); a-- > 0; rest /= outer[a].n) {
        target += rest % outer[a].n * outer[a].to * size;
        source += rest % outer[a].n * outer[a].from * size;
      }
      CopyBox(k, type, inner, target, source);
      for (int64_t done = block_bytes, more; done < bytes; done += more) {
        more = std::min(done, bytes - done);
        std::memcpy(target + done, target, static_cast<size_t>(more));
      }
    }
  });
  return true;
}

}  // namespace

void CopyBox(const KernelContext& k, DataType type, std::span<const CopyAxis> given, void* to_start,
             const void* from_start) {
  const Mover* mover = &MoverOf(type);
  char* to = static_cast<char*>(to_start);
  const char* from = static_cast<const char*>(from_start);

  // Axes by falling target step, without those of size 1, all target steps positive.
  CopyAxis axes[kMaxRank + 2];
  int rank = 0;
  for (CopyAxis axis : given) {
    if (axis.n == 0) return;
    if (axis.n == 1) continue;
    if (axis.to < 0) {
      to += (axis.n - 1) * axis.to * static_cast<int64_t>(mover->size);
      from += (axis.n - 1) * axis.from * static_cast<int64_t>(mover->size);
      axis.to = -axis.to;
      axis.from = -axis.from;
    }
    if (rank == kMaxRank + 2) throw Unimplemented("tensors of more than ", kMaxRank, " dimensions");
    int at = rank++;
    for (; at > 0 && axes[at - 1].to < axis.to; --at) axes[at] = axes[at - 1];
    axes[at] = axis;
  }
  // Neighbours that are one axis on both sides.
  int kept = 0;
  for (int i = 0; i < rank; ++i) {
    CopyAxis& last = axes[kept > 0 ? kept - 1 : 0];
    if (kept > 0 && last.to == axes[i].to * axes[i].n && last.from == axes[i].from * axes[i].n) {
      last = {last.n * axes[i].n, axes[i].to, axes[i].from};
    } else {
      axes[kept++] = axes[i];
    }
  }
  rank = kept;
  if (mover->turn && CopyRepeated(k, type, std::span(axes, static_cast<size_t>(rank)), to, from)) {
    box_ways.Enter(1);
    return;
  }
  // A short run as one larger element.
  bool joined = false;
  if (mover->turn && rank >= 2 && axes[rank - 1].to == 1 && axes[rank - 1].from == 1) {
    const int64_t n = axes[rank - 1].n, bytes = n * static_cast<int64_t>(mover->size);
    bool fits = bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
    for (int i = 0; i + 1 < rank && fits; ++i) fits = axes[i].to % n == 0 && axes[i].from % n == 0;
    if (fits) {
      joined = true;
      mover = &PlainMover(static_cast<size_t>(bytes));
      --rank;
      for (int i = 0; i < rank; ++i) axes[i] = {axes[i].n, axes[i].to / n, axes[i].from / n};
    }
  }
  const int64_t size = static_cast<int64_t>(mover->size);
  run_ways.Enter(joined ? 1 : 0);
  if (rank == 0) {
    box_ways.Enter(0);
    return mover->line(to, 1, from, 1, 1);
  }

  // The inner work: a line, or a rectangle to be turned when source and target run along different axes.
  const CopyAxis inner = axes[--rank];
  CopyAxis across{1, 0, 0};
  bool turn = false;
  if (mover->turn && inner.to == 1 && inner.from != 1) {
    for (int i = rank - 1; i >= 0 && !turn; --i) {
      if (axes[i].from != 1 || inner.n < 4 || axes[i].n < 4) continue;
      across = axes[i];
      std::copy(axes + i + 1, axes + rank, axes + i);
      --rank;
      turn = true;
    }
  }
  box_ways.Enter(turn ? 2 : 3);
  if (!turn) line_ways.Enter(inner.to != 1 ? 0 : inner.from == 1 ? 1 : inner.from == 0 ? 2 : inner.from == -1 ? 3 : 4);
  const CopyAxis cut = turn ? across : inner;  // the axis along which long inner work is cut in pieces
  const int64_t other = turn ? inner.n : 1;
  int64_t outer = 1;
  for (int i = 0; i < rank; ++i) outer *= axes[i].n;
  constexpr int64_t kPieceBytes = 128 << 10;
  int64_t piece = std::max<int64_t>(kPieceBytes / (size * other), 1);
  if (turn) piece = (piece + 63) / 64 * 64;
  piece = std::min(piece, cut.n);
  const int64_t pieces = (cut.n + piece - 1) / piece;

  k.Parallel(outer * pieces, CostOf(piece * other * size), [&](int64_t begin, int64_t end) {
    int64_t index[kMaxRank + 2];
    int64_t rest = begin / pieces, part = begin % pieces, to_at = 0, from_at = 0;
    for (int i = rank - 1; i >= 0; --i) {
      index[i] = rest % axes[i].n;
      rest /= axes[i].n;
      to_at += index[i] * axes[i].to;
      from_at += index[i] * axes[i].from;
    }
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t first = part * piece, n = std::min(piece, cut.n - first);
      char* target = to + (to_at + first * cut.to) * size;
      const char* source = from + (from_at + first * cut.from) * size;
      if (turn && size == 4) {
        CpuLoops().turn_4(target, across.to, source, inner.from, inner.n, n);
      } else if (turn && size == 8) {
        CpuLoops().turn_8(target, across.to, source, inner.from, inner.n, n);
      } else if (turn) {
        mover->turn(target, across.to, source, inner.from, inner.n, n);
      } else {
        mover->line(target, inner.to, source, inner.from, n);
      }
      if (++part < pieces) continue;
      part = 0;
      for (int i = rank - 1; i >= 0; --i) {
        to_at += axes[i].to;
        from_at += axes[i].from;
        if (++index[i] < axes[i].n) break;
        to_at -= axes[i].n * axes[i].to;
        from_at -= axes[i].n * axes[i].from;
        index[i] = 0;
      }
    }
  });
}

void CopyElements(DataType type, void* to, const void* from, int64_t n) {
  if (IsPod(type)) {
    if (n > 0) std::memcpy(to, from, n * DataTypeSize(type));
  } else {
    MoverOf(type).line(static_cast<char*>(to), 1, static_cast<const char*>(from), 1, n);
  }
}

void CopyElements(const KernelContext& k, DataType type, void* to, const void* from, int64_t n) {
  const CopyAxis axis{n, 1, 1};
  CopyBox(k, type, {&axis, 1}, to, from);
}

void ZeroElements(DataType type, void* to, int64_t n) {
  if (IsPod(type)) {
    if (n > 0) std::memset(to, 0, n * DataTypeSize(type));
  } else if (type == DT_STRING) {
    std::fill_n(static_cast<TString*>(to), n, TString());
  } else if (type == DT_RESOURCE) {
    std::fill_n(static_cast<ResourceHandle*>(to), n, ResourceHandle());
  } else {
    std::fill_n(static_cast<Variant*>(to), n, Variant());
  }
}

void ZeroElements(const KernelContext& k, DataType type, void* to, int64_t n) {
  const int64_t size = static_cast<int64_t>(DataTypeSize(type));
  constexpr int64_t kPiece = 64 << 10;
  k.Parallel((n + kPiece - 1) / kPiece, CostOf(kPiece * size) / 2, [&](int64_t begin, int64_t end) {
    ZeroElements(type, static_cast<char*>(to) + begin * kPiece * size, std::min(n, end * kPiece) - begin * kPiece);
  });
}

namespace {

// Whether all bits are zero, for which the C library has the fastest loop.
bool IsZero(DataType type, const void* value) {
  static constexpr char kZeros[16] = {};
  return IsPod(type) && !std::memcmp(value, kZeros, DataTypeSize(type));
}

}  // namespace

void FillElements(DataType type, void* to, const void* value, int64_t n) {
  if (IsZero(type, value)) return ZeroElements(type, to, n);
  if (n > 0) MoverOf(type).line(static_cast<char*>(to), 1, static_cast<const char*>(value), 0, n);
}

void FillElements(const KernelContext& k, DataType type, void* to, const void* value, int64_t n) {
  if (IsZero(type, value)) return ZeroElements(k, type, to, n);
  const CopyAxis axis{n, 1, 0};
  CopyBox(k, type, {&axis, 1}, to, value);
}

std::vector<int64_t> Strides(const Shape& shape) {
  std::vector<int64_t> strides(shape.rank());
  int64_t step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

}  // namespace penstock
