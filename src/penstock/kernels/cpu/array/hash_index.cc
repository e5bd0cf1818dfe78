#include "penstock/kernels/cpu/array/hash_index.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "penstock/base/branches.h"
#include "penstock/base/status.h"

namespace penstock {

namespace {

constinit BranchTable<2> index_ways{"unique/index", {"table of values", "hash table"}};

// Numbers different keys from 0. The keys themselves stay with the caller: key(i) is the one that number i stands for.
class OpenTable {
 public:
  explicit OpenTable(int64_t expected) {
    Grow(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(expected, 8) * 2)));
  }

  // The number of a key with this hash; `fresh` if it was not there. same(number) compares.
  template <class Same>
  int32_t Find(uint64_t hash, int32_t fresh, Same same) {
    uint64_t at = hash >> shift_;
    while (true) {
      Slot& slot = slots_[at];
      if (slot.number < 0) {
        slot = {static_cast<uint32_t>(hash), fresh};
        hashes_.push_back(hash);
        if (hashes_.size() * 2 > slots_.size()) Grow(slots_.size() * 4);
        return fresh;
      }
      if (slot.tag == static_cast<uint32_t>(hash) && same(slot.number)) return slot.number;
      at = (at + 1) & (slots_.size() - 1);
    }
  }
  template <class Same>
  bool Contains(uint64_t hash, Same same) const {
    for (uint64_t at = hash >> shift_; slots_[at].number >= 0; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].tag == static_cast<uint32_t>(hash) && same(slots_[at].number)) return true;
    }
    return false;
  }

 private:
  struct Slot {
    uint32_t tag = 0;
    int32_t number = -1;
  };
  void Grow(uint64_t size) {
    slots_.assign(size, {});
    shift_ = 64 - std::countr_zero(size);
    for (size_t i = 0; i < hashes_.size(); ++i) {
      uint64_t at = hashes_[i] >> shift_;
      while (slots_[at].number >= 0) at = (at + 1) & (size - 1);
      slots_[at] = {static_cast<uint32_t>(hashes_[i]), static_cast<int32_t>(i)};
    }
  }
  std::vector<Slot> slots_;
  std::vector<uint64_t> hashes_;  // of each number
  int shift_ = 0;
};

uint64_t Mix(uint64_t v) {
  v *= 0x9E3779B97F4A7C15u;
  return (v ^ v >> 32) * 0xD6E8FEB86659FD93u;
}

// How elements are compared: as integers, or as numbers that know NaN and two zeros.
template <class T>
struct Plain {
  using Element = T;
  static uint64_t Hash(const T& v) { return Mix(static_cast<uint64_t>(v)); }
  static bool Same(const T& a, const T& b) { return a == b; }
  static bool Never(const T&) { return false; }
};
template <class T>
struct Floating {
  using Element = T;
  static uint64_t Hash(const T& v) { return Mix(std::bit_cast<uint64_t>(static_cast<double>(v) + 0.0)); }
  static bool Same(const T& a, const T& b) { return a == b; }
  static bool Never(const T& v) { return v != v; }
};
template <class T>
struct ComplexNumber {
  using Element = T;
  static uint64_t Hash(const T& v) {
    return Mix(std::bit_cast<uint64_t>(double(v.real()) + 0.0) ^
               std::rotl(std::bit_cast<uint64_t>(double(v.imag()) + 0.0), 17));
  }
  static bool Same(const T& a, const T& b) { return a == b; }
  static bool Never(const T& v) { return v != v; }
};
struct Text {
  using Element = TString;
  static uint64_t Hash(const TString& v) { return Mix(Hash64(v.view())); }
  static bool Same(const TString& a, const TString& b) { return a == b; }
  static bool Never(const TString&) { return false; }
};

template <class I>
void Put(I* index, int64_t i, int64_t number) {
  index[i] = static_cast<I>(number);
}

// Integers that lie close together need no hashing: a table with a place for each of them.
template <class T, class I>
bool IndexClose(const T* x, int64_t n, I* index, std::vector<int64_t>* first) {
  if constexpr (std::is_integral_v<T>) {
    T low = x[0], high = x[0];
    for (int64_t i = 0; i < n; ++i) {
      low = std::min(low, x[i]);
      high = std::max(high, x[i]);
    }
    const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
    if (range >= static_cast<uint64_t>(std::max<int64_t>(2 * n, 1024))) return false;
    std::vector<int32_t> table(range + 1, -1);
    for (int64_t i = 0; i < n; ++i) {
      int32_t& number = table[static_cast<uint64_t>(x[i]) - static_cast<uint64_t>(low)];
      if (number < 0) [[unlikely]] {
        number = static_cast<int32_t>(first->size());
        first->push_back(i);
      }
      index[i] = static_cast<I>(number);
    }
    return true;
  } else {
    return false;
  }
}

template <class Kind, class I>
std::vector<int64_t> IndexAs(const Tensor& values, I* index) {
  using T = typename Kind::Element;
  const T* x = values.data<T>();
  const int64_t n = values.num_elements();
  std::vector<int64_t> first;
  if (n == 0) return first;
  const bool close = IndexClose(x, n, index, &first);
  index_ways.Enter(close ? 0 : 1);
  if (close) return first;
  OpenTable table(std::min<int64_t>(n, 1 << 10));  // it grows: most elements are often among few
  // NaNs take numbers that the table does not know of.
  std::vector<int32_t> numbers;  // of the table's keys
  std::vector<int64_t> places;   // where they first stand
  for (int64_t i = 0; i < n; ++i) {
    if (Kind::Never(x[i])) {
      Put(index, i, static_cast<int64_t>(first.size()));
      first.push_back(i);
      continue;
    }
    const int32_t fresh = static_cast<int32_t>(numbers.size());
    const int32_t key = table.Find(Kind::Hash(x[i]), fresh, [&](int32_t k) { return Kind::Same(x[places[k]], x[i]); });
    if (key == fresh) {
      numbers.push_back(static_cast<int32_t>(first.size()));
      places.push_back(i);
      first.push_back(i);
    }
    Put(index, i, numbers[key]);
  }
  return first;
}

// f.template operator()<Kind>() for the elements of `type`.
template <class F>
auto WithKind(DataType type, F f) {
  switch (type) {
    case DT_BOOL:
    case DT_UINT8:
    case DT_QUINT8: return f.template operator()<Plain<uint8_t>>();
    case DT_INT8:
    case DT_QINT8: return f.template operator()<Plain<int8_t>>();
    case DT_INT16:
    case DT_QINT16: return f.template operator()<Plain<int16_t>>();
    case DT_UINT16:
    case DT_QUINT16: return f.template operator()<Plain<uint16_t>>();
    case DT_INT32:
    case DT_QINT32: return f.template operator()<Plain<int32_t>>();
    case DT_UINT32: return f.template operator()<Plain<uint32_t>>();
    case DT_INT64: return f.template operator()<Plain<int64_t>>();
    case DT_UINT64: return f.template operator()<Plain<uint64_t>>();
    case DT_HALF: return f.template operator()<Floating<Half>>();
    case DT_BFLOAT16: return f.template operator()<Floating<BFloat16>>();
    case DT_FLOAT: return f.template operator()<Floating<float>>();
    case DT_DOUBLE: return f.template operator()<Floating<double>>();
    case DT_COMPLEX64: return f.template operator()<ComplexNumber<Complex64>>();
    case DT_COMPLEX128: return f.template operator()<ComplexNumber<Complex128>>();
    case DT_STRING: return f.template operator()<Text>();
    default: throw Unimplemented("comparing elements of type ", type);
  }
}

void CheckCount(int64_t n) {
  if (n > std::numeric_limits<int32_t>::max()) throw InvalidArgument("more than 2^31 - 1 elements: ", n);
}

}  // namespace

std::vector<int64_t> IndexElements(const Tensor& values, Tensor& index) {
  CheckCount(values.num_elements());
  return WithKind(values.dtype(), [&]<class Kind>() {
    return index.dtype() == DT_INT64 ? IndexAs<Kind>(values, index.mutable_data<int64_t>())
                                     : IndexAs<Kind>(values, index.mutable_data<int32_t>());
  });
}

std::vector<int64_t> IndexRows(const Tensor& rows, Tensor& index) {
  const int64_t n = rows.dim(0), width = rows.dim(1);
  CheckCount(n);
  return WithKind(rows.dtype(), [&]<class Kind>() {
    using T = typename Kind::Element;
    const T* x = rows.data<T>();
    std::vector<int64_t> first, places;
    std::vector<int32_t> numbers;
    OpenTable table(std::min<int64_t>(n, 1 << 10));  // it grows: most elements are often among few
    for (int64_t i = 0; i < n; ++i) {
      const T* row = x + i * width;
      uint64_t hash = 0x9E3779B97F4A7C15u;
      bool never = false;
      for (int64_t j = 0; j < width; ++j) {
        hash = Mix(hash ^ Kind::Hash(row[j]));
        never |= Kind::Never(row[j]);
      }
      const int32_t fresh = static_cast<int32_t>(numbers.size());
      int32_t number = static_cast<int32_t>(first.size());
      if (never) {
        first.push_back(i);
      } else {
        const int32_t key = table.Find(hash, fresh, [&](int32_t k) {
          return std::equal(row, row + width, x + places[k] * width,
                            [](const T& a, const T& b) { return Kind::Same(a, b); });
        });
        if (key == fresh) {
          numbers.push_back(number);
          places.push_back(i);
          first.push_back(i);
        }
        number = numbers[key];
      }
      if (index.dtype() == DT_INT64) {
        index.mutable_data<int64_t>()[i] = number;
      } else {
        index.mutable_data<int32_t>()[i] = number;
      }
    }
    return first;
  });
}

std::vector<int64_t> ElementsMissing(const Tensor& x, const Tensor& y) {
  CheckCount(y.num_elements());
  return WithKind(x.dtype(), [&]<class Kind>() {
    using T = typename Kind::Element;
    const T *xs = x.data<T>(), *ys = y.data<T>();
    OpenTable table(y.num_elements());
    std::vector<int64_t> places, missing;
    for (int64_t i = 0; i < y.num_elements(); ++i) {
      if (Kind::Never(ys[i])) continue;
      const int32_t fresh = static_cast<int32_t>(places.size());
      if (table.Find(Kind::Hash(ys[i]), fresh, [&](int32_t k) { return Kind::Same(ys[places[k]], ys[i]); }) == fresh) {
        places.push_back(i);
      }
    }
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      if (!table.Contains(Kind::Hash(xs[i]), [&](int32_t k) { return Kind::Same(ys[places[k]], xs[i]); })) {
        missing.push_back(i);
      }
    }
    return missing;
  });
}

}  // namespace penstock
