// A chain of elementwise functions, tile by tile: what is between the first and the last stays in the first-level
// cache. Each step is the loop of the op's own kernel, so the result is that of the ops one by one, bit by bit.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/math/elementwise.h"
#include "penstock/op/op_registry.h"

namespace penstock {
namespace {

// How an argument is stretched to the shape of the result: element i is element (i / repeat) % period.
struct Stretch {
  int64_t repeat = 1, period = 1;
};

// Nothing if the argument is stretched in another way, or does not fit.
std::optional<Stretch> StretchTo(const Shape& arg, const Shape& out) {
  const int missing = out.rank() - arg.rank();
  if (missing < 0) return std::nullopt;
  Stretch stretch;
  int last = arg.rank() - 1;
  for (; last >= 0 && arg.dim(last) == 1; --last) stretch.repeat *= out.dim(missing + last);
  int first = 0;
  while (first <= last && arg.dim(first) == 1) ++first;
  for (int d = first; d <= last; ++d) {
    if (arg.dim(d) != out.dim(missing + d)) return std::nullopt;
    stretch.period *= arg.dim(d);
  }
  return stretch;
}

// Elements [at, at + n) of a stretched argument.
template <class T>
void StretchInto(const char* from, const Stretch& how, int64_t at, int64_t n, char* to) {
  const T* in = reinterpret_cast<const T*>(from);
  T* out = reinterpret_cast<T*>(to);
  for (int64_t i = at, end = at + n, run; i < end; i += run, out += run) {
    const int64_t element = i / how.repeat % how.period;
    if (how.repeat == 1) {
      run = std::min(end - i, how.period - element);
      std::copy_n(in + element, run, out);
    } else {
      run = std::min(end - i, how.repeat - i % how.repeat);
      std::fill_n(out, run, in[element]);
    }
  }
}

class FusedElementwise {
 public:
  explicit FusedElementwise(const NodeView& node)
      : type_(node.attr<DataType>("T")), size_(DataTypeSize(type_)), num_args_(node.num_inputs()) {
    const auto& ops = node.attr<std::vector<std::string>>("steps");
    const auto& names = node.attr<std::vector<std::string>>("names");
    const auto& operands = node.attr<std::vector<int64_t>>("operands");
    const auto& results = node.attr<std::vector<int64_t>>("results");
    attrs_ = std::make_unique<AttrMap>(AttrMap{{"T", type_}, {"N", int64_t{2}}});  // sums are of two
    types_.assign(2, type_);
    size_t operand = 0;
    last_read_.assign(num_args_ + ops.size(), -1);
    for (size_t i = 0; i < ops.size(); ++i) {
      const OpDef* op = OpRegistry::Global().Find(ops[i]);
      const auto is_of_type = [](const ArgDef& arg) { return arg.type_attr == "T"; };
      if (!op || names.size() != ops.size() || op->inputs.size() > 2 || op->outputs.size() != 1 ||
          !std::ranges::all_of(op->inputs, is_of_type) || !is_of_type(op->outputs[0]))
        throw InvalidArgument("no elementwise op ", ops[i]);
      const size_t inputs = op->inputs.empty() || op->inputs[0].is_list() ? 2 : op->inputs.size();
      Step& step = steps_.emplace_back(
          NodeView(names[i], *op, *attrs_, std::span(types_).first(inputs), std::span(types_).first(1), node.device()));
      step.kernel = KernelRegistry::Global().Make("CPU", step.view);
      step.loop = step.kernel->elementwise();
      if (!step.loop) throw InvalidArgument("the op ", ops[i], " is not elementwise");
      step.inputs = step.loop->unary ? 1 : 2;
      for (int k = 0; k < step.inputs; ++k) {
        if (operand == operands.size() || operands[operand] < 0 || operands[operand] >= num_args_ + static_cast<int>(i))
          throw InvalidArgument("a step reads what is not there yet");
        step.in[k] = static_cast<int>(operands[operand++]);
        last_read_[step.in[k]] = static_cast<int>(i);
      }
      picoseconds_ += step.loop->picoseconds;
    }
    parts_ = node.attr<std::vector<int64_t>>("parts");
    joins_ = node.attr<std::vector<int64_t>>("joins");
    if (parts_.empty()) {
      for (int i = 0; i < num_args_; ++i) parts_.insert(parts_.end(), {1, 0});
    }
    if (joins_.empty()) joins_.assign(node.num_outputs(), 1);
    if (static_cast<int>(parts_.size()) != 2 * num_args_ || static_cast<int>(joins_.size()) != node.num_outputs())
      throw InvalidArgument("arguments or results do not fit");
    for (int i = 0; i < num_args_; ++i) {
      if (parts_[2 * i] < 1 || parts_[2 * i + 1] < 0 || parts_[2 * i + 1] >= parts_[2 * i])
        throw InvalidArgument("no such part of an argument");
    }
    size_t given_out = 0;
    for (int r = 0; r < node.num_outputs(); ++r) {
      if (joins_[r] < 1) throw InvalidArgument("a result joins no values");
      for (int64_t place = 0; place < joins_[r]; ++place, ++given_out) {
        if (given_out == results.size() || results[given_out] < 0 ||
            results[given_out] >= static_cast<int64_t>(steps_.size()))
          throw InvalidArgument("no such result");
        Step& step = steps_[results[given_out]];
        if (step.result >= 0) throw InvalidArgument("a value is given out twice");
        step.result = r;
        step.place = place;
      }
    }
    AssignRegisters();
  }

  void operator()(KernelContext& k) const {
    std::vector<Arg> args(num_args_);
    Shape shape;
    if (!Plan(k, &shape, args)) return OneByOne(k);
    std::vector<char*> results(k.num_outputs());
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (const int r = steps_[i].result; r >= 0 && !results[r])
        results[r] = static_cast<char*>(Result(k, r, static_cast<int>(i), shape).mutable_raw());
    }
    const int64_t width = shape.rank() ? shape.dim(shape.rank() - 1) : 1;
    // Tiles of all that is read and written fit into the first-level cache.
    const int64_t streams = num_registers_ + num_args_ + k.num_outputs();
    const int64_t tile = std::clamp<int64_t>(kCacheBytes / size_ / streams / 64 * 64, 64, kLargestTile);
    ParallelElements(k, shape.num_elements(), picoseconds_, [&](int64_t begin, int64_t end) {
      const size_t bytes = static_cast<size_t>((num_registers_ + num_args_) * tile * size_);
      const auto scratch = std::make_unique_for_overwrite<char[]>(bytes);
      std::vector<Operand> values(num_args_ + steps_.size());
      for (int64_t at = begin; at < end; at += tile)
        Tile(at, std::min(tile, end - at), width, args, results, scratch.get(), tile * size_, values);
    });
  }

 private:
  static constexpr int64_t kCacheBytes = 32 << 10, kLargestTile = 1024;

  struct Step {
    NodeView view;
    std::unique_ptr<Kernel> kernel;
    const ElementwiseLoop* loop = nullptr;
    int inputs = 0, in[2] = {};
    int result = -1;  // given out as this, or as the `place`th of the values that are joined to it
    int64_t place = 0;
    int reg = -1;  // where it lives if it is not given out as it is
    explicit Step(NodeView view) : view(view) {}
  };
  struct Arg {
    const char* base = nullptr;
    bool full = true;  // of the result's shape
    int64_t parts = 1, part = 0;
    Stretch how;
  };
  // A value of one tile. `step` is 0 or 1, in elements.
  struct Operand {
    const char* at;
    int64_t step;
  };

  // Values that are not given out: as few tiles as they need.
  void AssignRegisters() {
    std::vector<int> free;
    for (size_t i = 0; i < steps_.size(); ++i) {
      Step& step = steps_[i];
      for (int j = 0; j < step.inputs; ++j) {
        const int from = step.in[j] - num_args_;
        if (from < 0 || last_read_[step.in[j]] != static_cast<int>(i) || steps_[from].reg < 0) continue;
        if (j == 0 || step.in[0] != step.in[1]) free.push_back(steps_[from].reg);
      }
      if (step.result >= 0 && joins_[step.result] == 1) continue;
      if (free.empty()) free.push_back(num_registers_++);
      step.reg = free.back();
      free.pop_back();
    }
  }

  // The shape of all steps, and how arguments are stretched to it. False if steps have different shapes, or an argument
  // is stretched along dimensions that lie apart.
  bool Plan(const KernelContext& k, Shape* shape, std::vector<Arg>& args) const {
    std::vector<Shape> shapes(num_args_);
    for (int i = 0; i < num_args_; ++i) {
      shapes[i] = k.shape(i);
      args[i].parts = parts_[2 * i], args[i].part = parts_[2 * i + 1];
      if (args[i].parts > 1) {
        const int last = shapes[i].rank() - 1;
        if (last < 0 || shapes[i].dim(last) % args[i].parts != 0) return false;
        shapes[i].set_dim(last, shapes[i].dim(last) / args[i].parts);
      }
      if (shapes[i].rank() > shape->rank() || shapes[i].num_elements() > shape->num_elements()) *shape = shapes[i];
    }
    for (int i = 0; i < num_args_; ++i) {
      args[i].base = static_cast<const char*>(k.input(i).raw());
      args[i].full = shapes[i] == *shape;
      if (args[i].full) continue;
      const std::optional<Stretch> how = StretchTo(shapes[i], *shape);
      if (!how || args[i].parts > 1) return false;
      args[i].how = *how;
    }
    if (shape->rank() == 0 && std::ranges::any_of(joins_, [](int64_t n) { return n > 1; })) return false;
    for (const Step& step : steps_) {
      const auto full = [&](int value) { return value >= num_args_ || args[value].full; };
      const bool first = full(step.in[0]), second = step.inputs == 2 && full(step.in[1]);
      if (!first && !second) return false;
      if (step.inputs == 2 && !step.loop->stretches && first != second) return false;
    }
    return true;
  }

  // A result may take the place of an argument that no later step reads.
  Tensor& Result(KernelContext& k, int result, int step, const Shape& shape) const {
    if (joins_[result] > 1) {
      Shape joined = shape;
      joined.set_dim(shape.rank() - 1, shape.dim(shape.rank() - 1) * joins_[result]);
      return k.Output(result, joined);
    }
    for (int i = 0; i < num_args_; ++i) {
      if (last_read_[i] <= step && parts_[2 * i] == 1 && k.CanTake(i) && k.shape(i) == shape)
        return k.OutputLike(result, {i}, shape);
    }
    return k.Output(result, shape);
  }

  // Copies elements [at, at + n) of part `part` of `parts`, each with rows of `width`, from or to the whole: fn(offset
  // in the whole, offset in the part, length).
  static void ForEachRow(int64_t at, int64_t n, int64_t width, int64_t parts, int64_t part,
                         FunctionRef<void(int64_t, int64_t, int64_t)> fn) {
    for (int64_t i = at, run; i < at + n; i += run) {
      run = std::min(at + n - i, width - i % width);
      fn((i / width * parts + part) * width + i % width, i - at, run);
    }
  }

  void Tile(int64_t at, int64_t n, int64_t width, const std::vector<Arg>& args, const std::vector<char*>& results,
            char* scratch, int64_t tile_bytes, std::vector<Operand>& values) const {
    const auto reg = [&](int64_t i) { return scratch + i * tile_bytes; };
    for (int i = 0; i < num_args_; ++i) {
      const auto& [base, full, parts, part, how] = args[i];
      const int64_t first = at / how.repeat % how.period;
      if (parts > 1) {
        char* const to = reg(num_registers_ + i);
        ForEachRow(at, n, width, parts, part, [&](int64_t from, int64_t offset, int64_t length) {
          std::memcpy(to + offset * size_, base + from * size_, length * size_);
        });
        values[i] = {to, 1};
      } else if (full) {
        values[i] = {base + at * size_, 1};
      } else if (how.period == 1 || (how.repeat > 1 && at / how.repeat == (at + n - 1) / how.repeat)) {
        values[i] = {base + first * size_, 0};
      } else if (how.repeat == 1 && first + n <= how.period) {
        values[i] = {base + first * size_, 1};
      } else {
        char* const to = reg(num_registers_ + i);
        (size_ == 4 ? StretchInto<uint32_t> : StretchInto<uint64_t>)(base, how, at, n, to);
        values[i] = {to, 1};
      }
    }
    for (size_t i = 0; i < steps_.size(); ++i) {
      const Step& step = steps_[i];
      const Operand &a = values[step.in[0]], &b = values[step.in[1]];
      char* const to = step.reg >= 0 ? reg(step.reg) : results[step.result] + at * size_;
      if (step.inputs == 1) {
        step.loop->unary(a.at, to, n);
      } else {
        step.loop->binary(a.at, a.step, b.at, b.step, to, n);
      }
      values[num_args_ + i] = {to, 1};
      if (step.reg < 0 || step.result < 0) continue;
      ForEachRow(at, n, width, joins_[step.result], step.place, [&](int64_t whole, int64_t offset, int64_t length) {
        std::memcpy(results[step.result] + whole * size_, to + offset * size_, length * size_);
      });
    }
  }

  // The ops as they are, each with its own result: for shapes that differ from step to step, and to say what is wrong.
  void OneByOne(KernelContext& k) const {
    std::vector<Value> values(num_args_ + steps_.size());
    for (int i = 0; i < num_args_; ++i) values[i].tensor = parts_[2 * i] == 1 ? k.input(i) : Part(k, i);
    for (size_t i = 0; i < steps_.size(); ++i) {
      const Step& step = steps_[i];
      KernelContext::Input inputs[2];
      for (int j = 0; j < step.inputs; ++j) inputs[j] = {&values[step.in[j]], false};
      KernelContext one(step.view, std::span(inputs, step.inputs), std::span(&values[num_args_ + i], 1), k.step(),
                        k.device());
      try {
        step.kernel->Run(one);
      } catch (...) {
        const Status status = CurrentStatus();
        throw Error(Status(status.code(), StrCat(status.message(), "\n\t [[{{node ", step.view.name(), "}}]]"),
                           std::string(step.view.name())));
      }
      if (step.result >= 0 && joins_[step.result] == 1) k.SetOutput(step.result, values[num_args_ + i].tensor);
    }
    for (int r = 0; r < k.num_outputs(); ++r) {
      if (joins_[r] > 1) Join(k, r, values);
    }
  }

  Tensor Part(const KernelContext& k, int i) const {
    Shape shape = k.shape(i);
    const int last = shape.rank() - 1;
    k.Require(last >= 0 && shape.dim(last) % parts_[2 * i] == 0, "Number of ways to split should evenly divide the ",
              "split dimension, but got split_dim ", last, " (size = ", last < 0 ? 0 : shape.dim(last),
              ") and num_split ", parts_[2 * i]);
    const int64_t width = shape.dim(last) / parts_[2 * i];
    shape.set_dim(last, width);
    Tensor part(type_, shape);
    ForEachRow(0, shape.num_elements(), width, parts_[2 * i], parts_[2 * i + 1],
               [&](int64_t from, int64_t offset, int64_t length) {
                 std::memcpy(part.mutable_data<char>() + offset * size_, k.input(i).data<char>() + from * size_,
                             length * size_);
               });
    return part;
  }

  void Join(KernelContext& k, int result, const std::vector<Value>& values) const {
    Tensor* joined = nullptr;
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (steps_[i].result != result) continue;
      const Tensor& value = values[num_args_ + i].tensor;
      Shape shape = value.shape();
      k.Require(shape.rank() > 0, "ConcatOp : Expected concatenating dimensions of values that have some");
      const int last = shape.rank() - 1;
      const int64_t width = shape.dim(last);
      shape.set_dim(last, width * joins_[result]);
      if (!joined) joined = &k.Output(result, shape);
      k.Require(joined->shape() == shape, "ConcatOp : Dimensions of inputs should match: ", joined->shape(), " vs. ",
                shape);
      ForEachRow(0, value.num_elements(), width, joins_[result], steps_[i].place,
                 [&](int64_t whole, int64_t offset, int64_t length) {
                   std::memcpy(joined->mutable_data<char>() + whole * size_, value.data<char>() + offset * size_,
                               length * size_);
                 });
    }
  }

  const DataType type_;
  const int64_t size_;
  const int num_args_;
  int64_t picoseconds_ = 0;
  int num_registers_ = 0;
  std::unique_ptr<AttrMap> attrs_;  // of all steps
  std::vector<DataType> types_;
  std::vector<Step> steps_;
  std::vector<int64_t> parts_, joins_;
  std::vector<int> last_read_;  // by value: the last step that reads it; -1: none
};

}  // namespace

void RegisterFusedElementwiseKernels(KernelRegistry& kernels) {
  kernels.Add<FusedElementwise>("_FusedElementwise", Types<float, double>{});
}

}  // namespace penstock
