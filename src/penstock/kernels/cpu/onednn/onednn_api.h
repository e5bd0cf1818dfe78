// What libpenstock_onednn.so offers: one table of C functions around oneDNN. The module links nothing of Penstock and
// is opened at first use; kernels that cannot open it use their own loops.
//
// Every call computes on the calling thread alone. Kernels split their work by its shape and call from the threads of
// their own pool, so that no second pool ever competes for the cores and results do not depend on the number of
// threads.
#pragma once

#include <stddef.h>
#include <stdint.h>

extern "C" {

enum PenstockDnnConvKind { PENSTOCK_DNN_FORWARD = 0, PENSTOCK_DNN_INPUT_GRAD = 1, PENSTOCK_DNN_FILTER_GRAD = 2 };

// A convolution of floats, images [batch, spatial..., channels] and filter [spatial..., in / groups, out]. To be zeroed
// before it is filled in: plans are found by its bytes.
struct PenstockDnnConv {
  int64_t kind, spatial;  // spatial: 2 or 3 dimensions, at the end of these arrays
  int64_t batch, groups, in_channels, out_channels;
  int64_t in[3], filter[3], out[3], stride[3], dilation[3], pad[3], pad_after[3];
};

struct PenstockDnnApi {
  // A plan, to be given back with release; null if oneDNN has no fast way (a reference implementation is none), or one
  // that computes wrongly.
  void* (*conv_plan)(const PenstockDnnConv* conv);
  void (*conv_release)(void* plan);
  // Bytes of the filter (or, of a filter gradient, of the result) in the plan's own layout; 0 if that is the plain one.
  size_t (*conv_packed_bytes)(void* plan);
  // Plain filter into the plan's layout, or back (of a filter gradient). 0 if it went well.
  int (*conv_pack)(void* plan, const void* plain, void* packed);
  int (*conv_unpack)(void* plan, const void* packed, void* plain);
  // FORWARD: a input, b filter. INPUT_GRAD: a out_backprop, b filter. FILTER_GRAD: a input, b out_backprop.
  int (*conv_run)(void* plan, const void* a, const void* b, void* result);
  // c = a b with rows of c `ldc` apart, in floats (type 1) or bfloat16 (type 14); a is m x k, b is k x n, each
  // transposed in memory if so said, with rows lda and ldb apart. 0 if it went well.
  int (*matmul)(int type, int64_t m, int64_t n, int64_t k, const void* a, int64_t lda, int transpose_a, const void* b,
                int64_t ldb, int transpose_b, void* c, int64_t ldc);
};

// The one exported symbol.
typedef const PenstockDnnApi* (*PenstockDnnEntry)(void);
#define PENSTOCK_DNN_ENTRY "penstock_onednn_api_1"
}
