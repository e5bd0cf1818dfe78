// Inner loops of neural-network kernels on floats, compiled for each instruction set; CpuLoops().nn has this machine's.
#pragma once

#include <cstdint>

namespace penstock {

struct NnLoops {
  // y[i] = e^(x[i] - m), where m is the largest x; returns their sum and sets *largest. y may be x.
  float (*exp_row)(const float* x, float* y, int64_t n, float* largest) = nullptr;
  // The sum of e^(x[i] - m), nothing stored.
  float (*exp_sum)(const float* x, int64_t n, float* largest) = nullptr;
  // y[i] = x[i] * scale + shift
  void (*affine)(const float* x, float scale, float shift, float* y, int64_t n) = nullptr;
  // The sum of labels[i] * (constant - logits[i]), and backprop[i] = backprop[i] * scale - labels[i].
  float (*xent_row)(const float* logits, const float* labels, float constant, float scale, float* backprop,
                    int64_t n) = nullptr;

  // Rows of n channels.
  // y = (x - mean[c]) * scale[c] + shift[c]
  void (*normalise_rows)(const float* x, const float* mean, const float* scale, const float* shift, float* y,
                         int64_t rows, int64_t n) = nullptr;
  // y = x + bias[c]
  void (*add_rows)(const float* x, const float* bias, float* y, int64_t rows, int64_t n) = nullptr;
  // sum[c] += x, over all rows
  void (*sum_rows)(const float* x, int64_t rows, int64_t n, float* sum) = nullptr;
  // squares[c] += (x - mean[c])^2
  void (*square_rows)(const float* x, const float* mean, int64_t rows, int64_t n, float* squares) = nullptr;
  // sum[c] += dy; product[c] += dy * (x - mean[c])
  void (*norm_grad_sums)(const float* dy, const float* x, const float* mean, int64_t rows, int64_t n, float* sum,
                         float* product) = nullptr;
  // dx = dy * a[c] + (x - mean[c]) * b[c] + d[c]
  void (*norm_grad_rows)(const float* dy, const float* x, const float* mean, const float* a, const float* b,
                         const float* d, float* dx, int64_t rows, int64_t n) = nullptr;

  // y[i] = the largest of x[0][i], ..., x[count - 1][i]; NaN wins.
  void (*max_of)(const float* const* x, int64_t count, int64_t n, float* y) = nullptr;
  // dx[p][i] += dy[i], where x[p][i] is the first of the largest of x[0][i], ..., x[count - 1][i].
  void (*max_grad)(const float* const* x, int64_t count, int64_t n, const float* dy, float* const* dx) = nullptr;
  // dx[i] += dy[i] where x[i] is y[i].
  void (*add_where_equal)(const float* x, const float* y, const float* dy, int64_t n, float* dx) = nullptr;
  // acc[i] += x[i], acc[i] += x[i] * w[i]
  void (*add_into)(float* acc, const float* x, int64_t n) = nullptr;
  void (*mul_add_into)(float* acc, const float* x, const float* w, int64_t n) = nullptr;

  // y[i] = x limited to 0 ... limit; out[i] = dy[i] times 1 where 0 < x[i] < limit, else times 0.
  void (*relu)(const float* x, float limit, float* y, int64_t n) = nullptr;
  void (*relu_grad)(const float* dy, const float* x, float limit, float* out, int64_t n) = nullptr;
};

}  // namespace penstock
