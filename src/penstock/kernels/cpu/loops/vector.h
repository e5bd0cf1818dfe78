// Vectors as wide as the instruction set's registers, in GCC's vector extension: arithmetic, comparison and `? :` work
// element by element.
#pragma once

#include <cstdint>
#include <cstring>

namespace penstock::PENSTOCK_ISA {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kVectorBytes = 32;
#else
inline constexpr int kVectorBytes = 16;
#endif

template <class T>
struct VectorOf {
  typedef T type __attribute__((vector_size(kVectorBytes)));
  typedef T unaligned __attribute__((vector_size(kVectorBytes), aligned(1), may_alias));
};
template <class T>
using Vec = typename VectorOf<T>::type;
template <class T>
inline constexpr int kLanes = kVectorBytes / sizeof(T);

template <class T>
inline Vec<T> Load(const T* p) {
  return *reinterpret_cast<const typename VectorOf<T>::unaligned*>(p);
}
template <class T>
inline void Store(T* p, Vec<T> v) {
  *reinterpret_cast<typename VectorOf<T>::unaligned*>(p) = v;
}
#if defined(__AVX512F__)
// Writes a whole cache line, at p aligned to it, without reading it first. StreamEnd() before anybody else reads.
inline constexpr bool kCanStream = true;
template <class T>
inline void Stream(T* p, Vec<T> v) {
  __builtin_ia32_movntdq512(reinterpret_cast<Vec<long long>*>(p), (Vec<long long>)v);
}
inline void StreamEnd() { __builtin_ia32_sfence(); }
#else
inline constexpr bool kCanStream = false;
template <class T>
inline void Stream(T* p, Vec<T> v) {
  Store(p, v);
}
inline void StreamEnd() {}
#endif
template <class T>
inline Vec<T> Splat(T value) {
  return value - Vec<T>{};  // not 0 + value, which would lose the sign of -0
}

}  // namespace penstock::PENSTOCK_ISA
