// Singular values.
#pragma once

#include <vector>

#include "penstock/kernels/cpu/multiversion/vector_ops.h"

namespace penstock::linalg {

template <class T>
struct Singular {
  std::vector<Real<T>> values;  // descending
  Columns<T> u, v;              // where wanted: a = u diag(values) v^H
};
enum class SingularVectors { kNone, kThin, kFull };

// Of finite numbers.
template <class T>
Singular<T> SingularValues(Columns<T> a, SingularVectors vectors);

}  // namespace penstock::linalg
