// Decompositions by QR iterations: eigenvalues of self-adjoint matrices, Schur forms, eigenvectors.
#pragma once

#include <complex>
#include <vector>

#include "penstock/kernels/cpu/multiversion/vector_ops.h"

namespace penstock::linalg {

// A = V diag(values) V^H with ascending values; `a`, of which the lower triangle is read, becomes V where `vectors`.
// False where the iterations do not end.
template <class T>
bool SelfAdjointEigen(Columns<T>& a, bool vectors, std::vector<Real<T>>& values);

// A = U S U^H: `a` becomes S, which is triangular, of real numbers but for blocks of two rows where eigenvalues are
// complex. Without `vectors` S has no more than the eigenvalues. False where the iterations do not end.
template <class T>
bool Schur(Columns<T>& a, bool vectors, Columns<T>& u);

// Of any square matrix; vectors have length 1. False where the iterations do not end.
template <class T>
bool Eigen(Columns<T> a, bool vectors, std::vector<std::complex<Real<T>>>& values,
           Columns<std::complex<Real<T>>>& eigenvectors);

}  // namespace penstock::linalg
