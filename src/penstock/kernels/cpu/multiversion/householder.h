// Householder reflections H = I - tau v v^H, where v begins with 1, and QR decompositions by them.
#pragma once

#include <vector>

#include "penstock/kernels/cpu/multiversion/vector_ops.h"

namespace penstock::linalg {

// H with H^H x = beta e1: v takes the place of x but for its first element, which becomes beta (a real number).
template <class T>
T MakeReflection(int64_t n, T* x);
// M := H M, or M := M H.
template <class T>
void ReflectRows(Block<T> m, T tau, const T* v);
template <class T>
void ReflectColumns(Block<T> m, T tau, const T* v);

// A = Q R: R takes the place of A's upper triangle, the vectors of Q = H0 H1 ... that of the lower one.
template <class T>
std::vector<T> QrFactor(Block<T> a);
// C := Q C, or C := Q^H C. Where `identity`, C begins as columns of the identity.
template <class T>
void MultiplyByQ(Block<T> factors, const std::vector<T>& tau, bool adjoint, Block<T> c, bool identity = false);

// A P = Q R, where each column of A P is the longest of those that are left.
template <class T>
struct PivotedQr {
  std::vector<T> tau;
  std::vector<int64_t> order;  // column j of A P is column order[j] of A
  int64_t rank = 0;            // of R's rows that are not negligible

  explicit PivotedQr(Block<T> a);
};

}  // namespace penstock::linalg
