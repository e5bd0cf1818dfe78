// Cells of recurrent networks, each step or each sequence of steps one op, and their gradients.
#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"

namespace penstock {
namespace {

PartialShape Matrix(int64_t rows, int64_t columns) { return PartialShape({rows, columns}); }

int64_t Times(int64_t size, int64_t n) { return size < 0 ? -1 : size * n; }

// Rows of input 0, and columns of input 1: the batch, and the size of the cell.
PartialShape StepShape(ShapeContext& c) { return Matrix(c.WithRank(0, 2)[0], c.WithRank(1, 2)[1]); }

void CellShape(ShapeContext& c) {
  const PartialShape step = StepShape(c);
  for (int i = 0; i < c.num_outputs(); ++i) c.out(i, step);
}

void LstmCellGradShape(ShapeContext& c) {
  const PartialShape step = StepShape(c);
  c.out(0, step);
  c.out(1, Matrix(step[0], Times(step[1], 4)));
  for (int i = 2; i < 5; ++i) c.out(i, PartialShape({step[1]}));
}

void LstmShape(ShapeContext& c) {
  const PartialShape x = c.WithRank(1, 3), b = c.WithRank(8, 1);
  if (b[0] > 0 && b[0] % 4) throw InvalidArgument("Dimension size must be evenly divisible by 4 but is ", b[0]);
  const PartialShape steps({x[0], x[1], b[0] < 0 ? -1 : b[0] / 4});
  for (int i = 0; i < 7; ++i) c.out(i, steps);
}

void LstmGradShape(ShapeContext& c) {
  constexpr int kRanks[] = {3, 2, 2, 2, 1, 1, 1, 1};
  for (int i = 0; i < 8; ++i) c.out(i, c.WithRank(1 + i, kRanks[i]));
}

void GruCellGradShape(ShapeContext& c) {
  const PartialShape step = StepShape(c);
  c.out(0, c.WithRank(0, 2));
  c.out(1, step);
  c.out(2, step);
  c.out(3, Matrix(step[0], c.WithRank(2, 2)[1]));
}

OpBuilder LstmInputs(OpBuilder op) {
  for (const char* name : {"x", "cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b"}) op.Input(StrCat(name, ": T"));
  return op;
}

OpBuilder LstmOutputs(OpBuilder op) {
  for (const char* name : {"i", "cs", "f", "o", "ci", "co", "h"}) op.Output(StrCat(name, ": T"));
  return op;
}

Out Product(Out a, Out b, bool transpose_a, bool transpose_b) {
  return Call("MatMul", {a, b}, {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}});
}

Out SideBySide(GradContext& g, Out a, Out b) {
  return g.CallAll("ConcatV2", Outs{a, b, g.scope().Scalar(1)}, {{"N", 2}})[0];
}

// One step: the op gives the slopes of the gates, and the rest are products with them.
void LstmCellGradient(GradContext& g) {
  Outs inputs;
  for (int i = 0; i < 8; ++i) inputs.push_back(g.x(i));
  for (int i = 0; i < 6; ++i) inputs.push_back(g.y(i));
  inputs.push_back(g.dy(1));
  inputs.push_back(g.dy(6));
  const Outs d = g.CallAll("LSTMBlockCellGrad", inputs, {{"use_peephole", g.attr("use_peephole")}});
  const Out x = g.x(0), h_prev = g.x(2), gates = d[1];
  const Out dxh = Product(gates, g.x(3), false, true);
  const Out zero = ConstVector(g.scope(), {0, 0}), width = ShapeOf(x) * ConstVector(g.scope(), {0, 1});
  g.Set(0, Call("Slice", {dxh, zero, ShapeOf(x)}));
  g.Set(1, d[0]);
  g.Set(2, Call("Slice", {dxh, width, ShapeOf(h_prev)}));
  g.Set(3, Product(SideBySide(g, x, h_prev), gates, true, false));
  for (int i = 0; i < 3; ++i) g.Set(4 + i, d[2 + i]);
  g.Set(7, Call("BiasAddGrad", {gates}));
}

void LstmGradient(GradContext& g) {
  Outs inputs;
  for (int i = 0; i < 9; ++i) inputs.push_back(g.x(i));
  for (int i = 0; i < 7; ++i) inputs.push_back(g.y(i));
  inputs.push_back(g.dy(1));
  inputs.push_back(g.dy(6));
  const std::string op = g.op().name == "BlockLSTM" ? "BlockLSTMGrad" : "BlockLSTMGradV2";
  const Outs d = g.CallAll(op, inputs, {{"use_peephole", g.attr("use_peephole")}});
  for (int i = 0; i < 8; ++i) g.Set(1 + i, d[i]);
}

void GruCellGradient(GradContext& g) {
  const Out x = g.x(0), h_prev = g.x(1), r = g.y(0);
  Outs inputs;
  for (int i = 0; i < 6; ++i) inputs.push_back(g.x(i));
  for (int i = 0; i < 3; ++i) inputs.push_back(g.y(i));
  inputs.push_back(g.dy(3));
  const Outs d = g.CallAll("GRUBlockCellGrad", inputs);
  const Out candidate = d[2], gates = d[3];
  g.Set(0, d[0]);
  g.Set(1, d[1]);
  g.Set(2, Product(SideBySide(g, x, h_prev), gates, true, false));
  g.Set(3, Product(SideBySide(g, x, h_prev * r), candidate, true, false));
  g.Set(4, Call("BiasAddGrad", {gates}));
  g.Set(5, Call("BiasAddGrad", {candidate}));
}

}  // namespace

void RegisterRnnOps(OpRegistry& ops) {
  constexpr const char* kTypes = "T: {half, float}";
  LstmOutputs(LstmInputs(ops.Add("LSTMBlockCell"))).Attr("forget_bias: float = 1.0").Attr("cell_clip: float = 3.0")
      .Attr("use_peephole: bool = false").Attr(kTypes).Shape(CellShape).Gradient(LstmCellGradient)
      .Doc("One step of an LSTM. `w` and `b` hold input gate, candidate, forget gate and output gate, in this order.");
  OpBuilder cell_grad = LstmInputs(ops.Add("LSTMBlockCellGrad"));
  for (const char* name : {"i", "cs", "f", "o", "ci", "co", "cs_grad", "h_grad"}) cell_grad.Input(StrCat(name, ": T"));
  cell_grad.Output("cs_prev_grad: T").Output("dicfo: T").Output("wci_grad: T").Output("wcf_grad: T")
      .Output("wco_grad: T").Attr("use_peephole: bool").Attr(kTypes).Shape(LstmCellGradShape)
      .Doc("The slopes of LSTMBlockCell's state, gates and peepholes.");

  for (const bool second : {false, true}) {
    OpBuilder lstm = LstmOutputs(LstmInputs(ops.Add(second ? "BlockLSTMV2" : "BlockLSTM").Input("seq_len_max: int64")));
    if (!second) lstm.Attr("forget_bias: float = 1.0");
    lstm.Attr(second ? "cell_clip: float = 0.0" : "cell_clip: float = 3.0").Attr("use_peephole: bool = false")
        .Attr(kTypes).Shape(LstmShape).Gradient(LstmGradient)
        .Doc(second ? "BlockLSTM whose forget gate comes before the candidate, and has no bias of its own."
                    : "The first seq_len_max steps of an LSTM, each as LSTMBlockCell's; zeros beyond.");
    OpBuilder grad = LstmInputs(ops.Add(second ? "BlockLSTMGradV2" : "BlockLSTMGrad").Input("seq_len_max: int64"));
    for (const char* name : {"i", "cs", "f", "o", "ci", "co", "h", "cs_grad", "h_grad"}) {
      grad.Input(StrCat(name, ": T"));
    }
    for (const char* name : {"x", "cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b"}) {
      grad.Output(StrCat(name, "_grad: T"));
    }
    grad.Attr("use_peephole: bool").Attr(kTypes).Shape(LstmGradShape).Doc("The slopes of a BlockLSTM's inputs.");
  }

  OpBuilder gru = ops.Add("GRUBlockCell"), gru_grad = ops.Add("GRUBlockCellGrad");
  for (OpBuilder* op : {&gru, &gru_grad}) {
    for (const char* name : {"x", "h_prev", "w_ru", "w_c", "b_ru", "b_c"}) op->Input(StrCat(name, ": T"));
  }
  gru.Output("r: T").Output("u: T").Output("c: T").Output("h: T").Attr("T: {float}").Shape(CellShape)
      .Gradient(GruCellGradient).Doc("One step of a GRU: `w_ru` and `b_ru` hold reset gate and update gate.");
  gru_grad.Input("r: T").Input("u: T").Input("c: T").Input("d_h: T").Output("d_x: T").Output("d_h_prev: T")
      .Output("d_c_bar: T").Output("d_r_bar_u_bar: T").Attr("T: {float}").Shape(GruCellGradShape)
      .Doc("The slopes of GRUBlockCell's input, state, candidate and gates.");
}

}  // namespace penstock
