// The gradients of linear algebra.
#pragma once

namespace penstock {
class GradContext;
}

namespace penstock::gradients {

void BandedTriangularSolve(GradContext& g);
void Cholesky(GradContext& g);
void Eig(GradContext& g);
void LogMatrixDeterminant(GradContext& g);
void MatrixDeterminant(GradContext& g);
void MatrixInverse(GradContext& g);
void MatrixSolve(GradContext& g);
void MatrixSolveLs(GradContext& g);
void MatrixSquareRoot(GradContext& g);
void MatrixTriangularSolve(GradContext& g);
void Qr(GradContext& g);
void SelfAdjointEigV2(GradContext& g);
void Svd(GradContext& g);
void TridiagonalMatMul(GradContext& g);
void TridiagonalSolve(GradContext& g);

}  // namespace penstock::gradients
