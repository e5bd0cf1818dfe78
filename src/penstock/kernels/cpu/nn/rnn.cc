// Cells of recurrent networks: products with the weights, and loops over the gates. Computed in float.
#include <algorithm>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/compute.h"
#include "penstock/kernels/cpu/linalg/gemm.h"
#include "penstock/kernels/cpu/loops.h"
#include "penstock/kernels/cpu/nn/nn_loops.h"

namespace penstock {
namespace {

// A matrix of rows without gaps, and its transpose.
MatrixView Rows(const float* data, int64_t width) { return {data, width, 1}; }
MatrixView Turned(const float* data, int64_t width) { return {data, 1, width}; }

void CheckRank(const KernelContext& k, int i, int rank, std::string_view name) {
  k.Require(k.shape(i).rank() == rank, name, " must be ", rank, "D, but has shape ", k.shape(i));
}
void CheckSize(const KernelContext& k, std::string_view expectation, int64_t size, int64_t expected) {
  k.Require(size == expected, expectation, ": ", size, " vs. ", expected);
}
void CheckStep(const KernelContext& k, int i, std::string_view name, int64_t batch, int64_t cell) {
  CheckRank(k, i, 2, name);
  CheckSize(k, StrCat(name, ".dims(0) != batch_size"), k.shape(i)[0], batch);
  CheckSize(k, StrCat(name, ".dims(1) != cell_size"), k.shape(i)[1], cell);
}

// An LSTM's inputs: of one step (LSTMBlockCell*), or of a sequence of steps behind its length (BlockLSTM*).
struct LstmInputs {
  int first;  // input x; cs_prev, h_prev, w, wci, wcf, wco and b follow
  int64_t time, batch, input, cell;
  int64_t steps;         // how many are computed
  Shape step, sequence;  // of the state, and of the values of all steps

  LstmInputs(const KernelContext& k, bool whole, bool peephole) : first(whole) {
    const Shape& x = k.shape(first);
    CheckRank(k, first, whole ? 3 : 2, "x");
    CheckRank(k, first + 1, 2, "cs_prev");
    time = whole ? x[0] : 1, batch = x[first], input = x[first + 1], cell = k.shape(first + 1)[1];
    CheckStep(k, first + 1, "cs_prev", batch, cell);
    CheckStep(k, first + 2, "h_prev", batch, cell);
    CheckRank(k, first + 3, 2, "w");
    CheckSize(k, "w.dim_size(0) != input_size + cell_size", k.shape(first + 3)[0], input + cell);
    CheckSize(k, "w.dim_size(1) != cell_size * 4", k.shape(first + 3)[1], cell * 4);
    constexpr const char* kPeepholes[] = {"wci", "wcf", "wco"};
    for (int i = 0; i < 3; ++i) {
      CheckRank(k, first + 4 + i, 1, kPeepholes[i]);
      if (whole || peephole) {
        CheckSize(k, StrCat(kPeepholes[i], ".dim_size(0) != cell_size"), k.shape(first + 4 + i)[0], cell);
      }
    }
    CheckRank(k, first + 7, 1, "b");
    CheckSize(k, "b.dim_size(0) != cell_size * 4", k.shape(first + 7)[0], cell * 4);
    steps = whole ? k.Scalar<int64_t>(0) : 1;
    k.Require(steps >= 0 && steps <= time, "seq_len_max must be in [0, ", time, "], but is ", steps);
    step = Shape({batch, cell});
    sequence = whole ? Shape({time, batch, cell}) : step;
  }
  // Parallel over the rows of one step.
  void EachRow(const KernelContext& k, FunctionRef<void(int64_t)> row) const {
    k.Parallel(batch, std::max<int64_t>(1, cell * 8), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) row(r);
    });
  }
};

struct LstmOp {
  bool whole, peephole;
  // Which of the four blocks in a row of weights; the input gate is the first, the output gate the last.
  int candidate, forget;
  explicit LstmOp(const NodeView& node)
      : whole(node.op().name.starts_with("Block")), peephole(node.attr<bool>("use_peephole")) {
    const bool second = node.op().name.ends_with("V2");
    candidate = second ? 2 : 1, forget = second ? 1 : 2;
  }
};

struct Lstm : LstmOp {
  float forget_bias, clip;
  explicit Lstm(const NodeView& node)
      : LstmOp(node), forget_bias(node.attr_or<float>("forget_bias", 0)), clip(node.attr<float>("cell_clip")) {}

  void operator()(KernelContext& k) const {
    const LstmInputs in(k, whole, peephole);
    using Values = ComputeOutput<float>;
    Values out[] = {{k, 0, in.sequence}, {k, 1, in.sequence}, {k, 2, in.sequence}, {k, 3, in.sequence},
                    {k, 4, in.sequence}, {k, 5, in.sequence}, {k, 6, in.sequence}};
    const int64_t n = in.cell, size = in.batch * n;
    if (size > 0) {
      for (Values& values : out) std::fill(values.data + in.steps * size, values.data + in.time * size, 0.0f);
      Steps(k, in, out);
    }
    for (Values& values : out) values.Store();
  }

  void Steps(KernelContext& k, const LstmInputs& in, ComputeOutput<float>* out) const {
    const int64_t n = in.cell, size = in.batch * n;
    const auto value = [&](int i) { return ComputeInput<float>(k, k.input(in.first + i)); };
    const auto x = value(0), cs_first = value(1), h_first = value(2), w = value(3), wci = value(4), wcf = value(5),
               wco = value(6), b = value(7);
    const UnaryLoop sigmoid = CpuLoops()(UnaryOp::kSigmoid, DT_FLOAT), tanh = CpuLoops()(UnaryOp::kTanh, DT_FLOAT);
    const auto add_product = CpuLoops().nn->mul_add_into;
    // What the inputs add to the gates of all steps is one product; what the states add, one for each step.
    Tensor gates_memory = k.Temp(DT_FLOAT, Shape({in.steps * in.batch, 4 * n}));
    float* gates = gates_memory.mutable_data<float>();
    Gemm(k, DT_FLOAT, in.steps * in.batch, 4 * n, in.input, Rows(x.data, in.input), Rows(w.data, 4 * n), gates, 4 * n);
    for (int64_t t = 0; t < in.steps; ++t) {
      const float* cs_prev = t ? out[1].data + (t - 1) * size : cs_first.data;
      const float* h_prev = t ? out[6].data + (t - 1) * size : h_first.data;
      float* step_gates = gates + t * 4 * size;
      Gemm(k, DT_FLOAT, in.batch, 4 * n, n, Rows(h_prev, n), Rows(w.data + in.input * 4 * n, 4 * n), step_gates, 4 * n,
           true);
      in.EachRow(k, [&](int64_t r) {
        const float *g = step_gates + r * 4 * n, *state = cs_prev + r * n;
        const auto row = [&](int i) { return out[i].data + t * size + r * n; };
        float *i = row(0), *cs = row(1), *f = row(2), *o = row(3), *ci = row(4), *co = row(5), *h = row(6);
        const auto sum = [&](int block, float bias, float* to) {
          for (int64_t j = 0; j < n; ++j) to[j] = g[block * n + j] + b.data[block * n + j] + bias;
        };
        sum(0, 0, i), sum(candidate, 0, ci), sum(forget, forget_bias, f), sum(3, 0, o);
        if (peephole) add_product(i, state, wci.data, n), add_product(f, state, wcf.data, n);
        sigmoid(i, i, n), tanh(ci, ci, n), sigmoid(f, f, n);
        for (int64_t j = 0; j < n; ++j) cs[j] = i[j] * ci[j] + f[j] * state[j];
        if (clip > 0) {
          for (int64_t j = 0; j < n; ++j) cs[j] = std::clamp(cs[j], -clip, clip);
        }
        if (peephole) add_product(o, cs, wco.data, n);
        tanh(cs, co, n), sigmoid(o, o, n);
        for (int64_t j = 0; j < n; ++j) h[j] = o[j] * co[j];
      });
    }
  }
};

// The slopes of one step's gates from those of its state and output: what both gradient ops do.
struct LstmGradOp : LstmOp {
  using LstmOp::LstmOp;

  // The values of all steps (i, cs, f, o, ci, co), the weights of peepholes and where their slopes are added up.
  struct Values {
    ComputeInput<float> i, cs, f, o, ci, co, cs_first, wci, wcf, wco;
    ComputeOutput<float> dwci, dwcf, dwco;

    Values(KernelContext& k, const LstmInputs& in, int peephole_output)
        : i(Value(k, in, 8)),
          cs(Value(k, in, 9)),
          f(Value(k, in, 10)),
          o(Value(k, in, 11)),
          ci(Value(k, in, 12)),
          co(Value(k, in, 13)),
          cs_first(k, k.input(in.first + 1)),
          wci(k, k.input(in.first + 4)),
          wcf(k, k.input(in.first + 5)),
          wco(k, k.input(in.first + 6)),
          dwci(k, peephole_output, Shape({in.cell})),
          dwcf(k, peephole_output + 1, Shape({in.cell})),
          dwco(k, peephole_output + 2, Shape({in.cell})) {
      for (ComputeOutput<float>* d : {&dwci, &dwcf, &dwco}) std::fill_n(d->data, in.cell, 0.0f);
    }
    void Store() { dwci.Store(), dwcf.Store(), dwco.Store(); }
  };
  // The input behind x by `i`, which has a row for each step and element of the batch.
  static ComputeInput<float> Value(const KernelContext& k, const LstmInputs& in, int i) {
    const Shape& shape = k.shape(in.first + i);
    k.Require(shape == in.sequence, "input ", in.first + i, " must have shape ", in.sequence, ", but has ", shape);
    return ComputeInput<float>(k, k.input(in.first + i));
  }

  // dcs and dh flow into step t's state and output; fills dgates, and replaces dcs by what flows into the state before.
  void Step(const KernelContext& k, const LstmInputs& in, Values& v, int64_t t, const float* dh, float* dcs,
            float* dgates) const {
    const int64_t n = in.cell, size = in.batch * n;
    const float* cs_prev = t ? v.cs.data + (t - 1) * size : v.cs_first.data;
    in.EachRow(k, [&](int64_t r) {
      const int64_t at = t * size + r * n;
      const float *i = v.i.data + at, *f = v.f.data + at, *o = v.o.data + at, *ci = v.ci.data + at,
                  *co = v.co.data + at, *state = cs_prev + r * n, *dh_row = dh + r * n;
      float *g = dgates + r * 4 * n, *d = dcs + r * n;
      float *di = g, *dci = g + candidate * n, *df = g + forget * n, *d_o = g + 3 * n;
      for (int64_t j = 0; j < n; ++j) {
        d_o[j] = o[j] * (1 - o[j]) * dh_row[j] * co[j];
        d[j] += (1 - co[j] * co[j]) * dh_row[j] * o[j];
        if (peephole) d[j] += d_o[j] * v.wco.data[j];
        dci[j] = (1 - ci[j] * ci[j]) * d[j] * i[j];
        df[j] = f[j] * (1 - f[j]) * d[j] * state[j];
        di[j] = i[j] * (1 - i[j]) * d[j] * ci[j];
        d[j] *= f[j];
        if (peephole) d[j] += di[j] * v.wci.data[j] + df[j] * v.wcf.data[j];
      }
    });
    if (!peephole) return;
    const auto add_product = CpuLoops().nn->mul_add_into;
    for (int64_t r = 0; r < in.batch; ++r) {
      const float* g = dgates + r * 4 * n;
      add_product(v.dwci.data, g, cs_prev + r * n, n);
      add_product(v.dwcf.data, g + forget * n, cs_prev + r * n, n);
      add_product(v.dwco.data, g + 3 * n, v.cs.data + t * size + r * n, n);
    }
  }
};

struct LstmCellGrad : LstmGradOp {
  using LstmGradOp::LstmGradOp;

  void operator()(KernelContext& k) const {
    const LstmInputs in(k, whole, peephole);
    Values values(k, in, 2);
    const auto cs_grad = Value(k, in, 14), h_grad = Value(k, in, 15);
    ComputeOutput<float> dcs(k, 0, in.step), dgates(k, 1, Shape({in.batch, 4 * in.cell}));
    std::copy_n(cs_grad.data, in.batch * in.cell, dcs.data);
    if (in.batch * in.cell > 0) Step(k, in, values, 0, h_grad.data, dcs.data, dgates.data);
    dcs.Store(), dgates.Store(), values.Store();
  }
};

struct LstmGrad : LstmGradOp {
  using LstmGradOp::LstmGradOp;

  void operator()(KernelContext& k) const {
    const LstmInputs in(k, whole, peephole);
    Values values(k, in, 4);
    const auto x = ComputeInput<float>(k, k.input(1)), h_first = ComputeInput<float>(k, k.input(3)),
               w = ComputeInput<float>(k, k.input(4));
    const auto h = Value(k, in, 14), cs_grad = Value(k, in, 15), h_grad = Value(k, in, 16);
    ComputeOutput<float> dx(k, 0, k.shape(1)), dcs(k, 1, in.step), dh(k, 2, in.step), dw(k, 3, k.shape(4)),
        db(k, 7, k.shape(8));
    const int64_t n = in.cell, size = in.batch * n, rows = in.steps * in.batch;
    std::fill_n(dcs.data, size, 0.0f);
    std::fill_n(dh.data, size, 0.0f);
    std::fill_n(dw.data, (in.input + n) * 4 * n, 0.0f);
    std::fill_n(db.data, 4 * n, 0.0f);
    std::fill_n(dx.data, k.shape(1).num_elements(), 0.0f);
    if (rows * n > 0) {
      const auto add = CpuLoops().nn->add_into;
      const float *wx = w.data, *wh = w.data + in.input * 4 * n;
      Tensor gates_memory = k.Temp(DT_FLOAT, Shape({rows, 4 * n}));
      float* gates = gates_memory.mutable_data<float>();
      for (int64_t t = in.steps - 1; t >= 0; --t) {
        add(dcs.data, cs_grad.data + t * size, size);
        add(dh.data, h_grad.data + t * size, size);
        Step(k, in, values, t, dh.data, dcs.data, gates + t * 4 * size);
        Gemm(k, DT_FLOAT, in.batch, n, 4 * n, Rows(gates + t * 4 * size, 4 * n), Turned(wh, 4 * n), dh.data, n);
      }
      // The products of all steps at once; the states before the steps are h_prev, then h.
      if (in.input > 0) {
        Gemm(k, DT_FLOAT, rows, in.input, 4 * n, Rows(gates, 4 * n), Turned(wx, 4 * n), dx.data, in.input);
        Gemm(k, DT_FLOAT, in.input, 4 * n, rows, Turned(x.data, in.input), Rows(gates, 4 * n), dw.data, 4 * n);
      }
      float* dwh = dw.data + in.input * 4 * n;
      Gemm(k, DT_FLOAT, n, 4 * n, in.batch, Turned(h_first.data, n), Rows(gates, 4 * n), dwh, 4 * n);
      if (in.steps > 1) {
        Gemm(k, DT_FLOAT, n, 4 * n, rows - in.batch, Turned(h.data, n), Rows(gates + 4 * size, 4 * n), dwh, 4 * n,
             true);
      }
      CpuLoops().nn->sum_rows(gates, rows, 4 * n, db.data);
    }
    dx.Store(), dcs.Store(), dh.Store(), dw.Store(), db.Store(), values.Store();
  }
};

// GRUBlockCell's inputs: x, h_prev, w_ru, w_c, b_ru, b_c.
struct GruInputs {
  int64_t batch, input, cell;
  const float *x, *h_prev, *w_ru, *w_c, *b_ru, *b_c;

  explicit GruInputs(const KernelContext& k) {
    CheckRank(k, 0, 2, "x");
    CheckRank(k, 1, 2, "h_prev");
    batch = k.shape(0)[0], input = k.shape(0)[1], cell = k.shape(1)[1];
    CheckStep(k, 1, "h_prev", batch, cell);
    CheckRank(k, 2, 2, "w_ru");
    CheckSize(k, "w_ru.dim_size(0) != input_size + cell_size", k.shape(2)[0], input + cell);
    CheckSize(k, "w_ru.dim_size(1) != cell_size * 2", k.shape(2)[1], cell * 2);
    CheckRank(k, 3, 2, "w_c");
    CheckSize(k, "w_c.dim_size(0) != input_size + cell_size", k.shape(3)[0], input + cell);
    CheckSize(k, "w_c.dim_size(1) != cell_size", k.shape(3)[1], cell);
    CheckRank(k, 4, 1, "b_ru");
    CheckSize(k, "b_ru.dim_size(0) != cell_size * 2", k.shape(4)[0], cell * 2);
    CheckRank(k, 5, 1, "b_c");
    CheckSize(k, "b_c.dim_size(0) != cell_size", k.shape(5)[0], cell);
    const float** to[] = {&x, &h_prev, &w_ru, &w_c, &b_ru, &b_c};
    for (int i = 0; i < 6; ++i) *to[i] = k.in<float>(i).data();
  }
  // [x, h] times weights of `width` columns.
  void Multiply(const KernelContext& k, const float* h, const float* w, int64_t width, float* to) const {
    Gemm(k, DT_FLOAT, batch, width, input, Rows(x, input), Rows(w, width), to, width);
    Gemm(k, DT_FLOAT, batch, width, cell, Rows(h, cell), Rows(w + input * width, width), to, width, true);
  }
};

struct GruCell {
  explicit GruCell(const NodeView&) {}

  void operator()(KernelContext& k) const {
    const GruInputs in(k);
    const int64_t n = in.cell, size = in.batch * n;
    float* out[4];
    for (int i = 0; i < 4; ++i) out[i] = k.out<float>(i, k.shape(1)).data();
    if (size == 0) return;
    float *r = out[0], *u = out[1], *c = out[2], *h = out[3];
    const UnaryLoop sigmoid = CpuLoops()(UnaryOp::kSigmoid, DT_FLOAT), tanh = CpuLoops()(UnaryOp::kTanh, DT_FLOAT);
    Tensor gates_memory = k.Temp(DT_FLOAT, Shape({in.batch, 2 * n})), reset_memory = k.Temp(DT_FLOAT, k.shape(1));
    float *gates = gates_memory.mutable_data<float>(), *reset = reset_memory.mutable_data<float>();
    in.Multiply(k, in.h_prev, in.w_ru, 2 * n, gates);
    for (int64_t at = 0; at < size; at += n) {
      const float* g = gates + 2 * at;
      for (int64_t j = 0; j < n; ++j) r[at + j] = g[j] + in.b_ru[j];
      for (int64_t j = 0; j < n; ++j) u[at + j] = g[n + j] + in.b_ru[n + j];
    }
    sigmoid(r, r, size), sigmoid(u, u, size);
    for (int64_t j = 0; j < size; ++j) reset[j] = in.h_prev[j] * r[j];
    in.Multiply(k, reset, in.w_c, n, c);
    CpuLoops().nn->add_rows(c, in.b_c, c, in.batch, n);
    tanh(c, c, size);
    for (int64_t j = 0; j < size; ++j) h[j] = u[j] * (in.h_prev[j] - c[j]) + c[j];
  }
};

struct GruCellGrad {
  explicit GruCellGrad(const NodeView&) {}

  void operator()(KernelContext& k) const {
    const GruInputs in(k);
    for (int i = 6; i < 10; ++i) {
      k.Require(k.shape(i) == k.shape(1), "input ", i, " must have shape ", k.shape(1), ", but has ", k.shape(i));
    }
    const int64_t n = in.cell, size = in.batch * n;
    const float *r = k.in<float>(6).data(), *u = k.in<float>(7).data(), *c = k.in<float>(8).data(),
                *dh = k.in<float>(9).data();
    const auto dx = k.out<float>(0, k.shape(0));
    float *dh_prev = k.out<float>(1, k.shape(1)).data(), *dc = k.out<float>(2, k.shape(1)).data(),
          *dgates = k.out<float>(3, Shape({in.batch, 2 * n})).data();
    std::fill(dx.begin(), dx.end(), 0.0f);
    if (size == 0) return;
    Tensor reset_memory = k.Temp(DT_FLOAT, k.shape(1));
    float* dreset = reset_memory.mutable_data<float>();  // the slope of h_prev * r
    for (int64_t j = 0; j < size; ++j) dc[j] = dh[j] * (1 - u[j]) * (1 - c[j] * c[j]);
    Gemm(k, DT_FLOAT, in.batch, n, n, Rows(dc, n), Turned(in.w_c + in.input * n, n), dreset, n);
    for (int64_t at = 0; at < size; at += n) {
      float *dr = dgates + 2 * at, *du = dr + n;
      for (int64_t j = 0; j < n; ++j) {
        const int64_t i = at + j;
        dr[j] = dreset[i] * in.h_prev[i] * r[i] * (1 - r[i]);
        du[j] = dh[i] * (in.h_prev[i] - c[i]) * u[i] * (1 - u[i]);
        dh_prev[i] = dreset[i] * r[i] + dh[i] * u[i];
      }
    }
    const auto back = [&](const float* d, int64_t width, const float* w, int64_t columns, float* to) {
      if (columns > 0) Gemm(k, DT_FLOAT, in.batch, columns, width, Rows(d, width), Turned(w, width), to, columns, true);
    };
    back(dgates, 2 * n, in.w_ru + in.input * 2 * n, n, dh_prev);
    back(dgates, 2 * n, in.w_ru, in.input, dx.data());
    back(dc, n, in.w_c, in.input, dx.data());
  }
};

}  // namespace

void RegisterRnnKernels(KernelRegistry& kernels) {
  using HalfAndFloat = Types<Half, float>;
  kernels.Add<Lstm>("LSTMBlockCell", HalfAndFloat{});
  kernels.Add<LstmCellGrad>("LSTMBlockCellGrad", HalfAndFloat{});
  for (const char* version : {"", "V2"}) {
    kernels.Add<Lstm>(StrCat("BlockLSTM", version), HalfAndFloat{}).HostInput(0);
    kernels.Add<LstmGrad>(StrCat("BlockLSTMGrad", version), HalfAndFloat{}).HostInput(0);
  }
  kernels.Add<GruCell>("GRUBlockCell", Types<float>{});
  kernels.Add<GruCellGrad>("GRUBlockCellGrad", Types<float>{});
}

}  // namespace penstock
