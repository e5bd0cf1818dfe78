// A chain of elementwise functions, tile by tile: what is between the first and the last stays in the first-level
// cache. Each step is the loop of the op's own kernel, so the result is that of the ops one by one, bit by bit.
#include <algorithm>
#include <cstring>
#include <memory>

#include "penstock/base/branches.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/math/elementwise.h"
#include "penstock/kernels/cpu/math/fused_steps.h"

namespace penstock {
namespace {

constinit BranchTable<2> ways{"fused_elementwise/way", {"tiles", "one by one"}};
constinit BranchTable<6> arguments{"fused_elementwise/argument",
                                   {"part", "full", "broadcast", "one value", "in place", "stretched"}};

constinit BranchTable<3> results_of_steps{"fused_elementwise/result", {"new memory", "an argument's memory", "joined"}};

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
      : type_(node.attr<DataType>("T")),
        size_(DataTypeSize(type_)),
        num_args_(node.num_inputs()),
        steps_(node),
        regs_(steps_.size(), -1),
        places_(steps_.size()) {
    const auto& results = node.attr<std::vector<int64_t>>("results");
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (!steps_[i].loop && !steps_[i].select)
        throw InvalidArgument("the op ", steps_[i].view.op().name, " is not elementwise");
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
        FusedSteps::Step& step = steps_[results[given_out]];
        if (step.result >= 0) throw InvalidArgument("a value is given out twice");
        step.result = r;
        places_[results[given_out]] = place;
      }
    }
    AssignRegisters();
  }

  void operator()(KernelContext& k) const {
    Whole whole;
    const bool planned = Plan(k, &whole);
    ways.Enter(planned ? 0 : 1);
    if (!planned) return OneByOne(k);
    const Shape& shape = whole.shape;
    whole.results.resize(k.num_outputs());
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (const int r = steps_[i].result; r >= 0 && !whole.results[r])
        whole.results[r] = static_cast<char*>(Result(k, r, static_cast<int>(i), shape).mutable_raw());
    }
    whole.width = shape.rank() ? shape.dim(shape.rank() - 1) : 1;
    whole.prefetch = shape.num_elements() * size_ >= kPrefetchBytes;
    // Tiles of all that is read and written fit into the first-level cache.
    const int64_t streams = num_registers_ + num_args_ + k.num_outputs();
    const int64_t tile = std::clamp<int64_t>(kCacheBytes / size_ / streams / 64 * 64, 64, kLargestTile);
    ParallelElements(k, shape.num_elements(), steps_.picoseconds(), [&](int64_t begin, int64_t end) {
      Work work(tile * size_, num_registers_ + num_args_, num_args_ + steps_.size());
      for (const Arg& arg : whole.args) {
        if (arg.broadcast) work.stretched.emplace_back(*arg.broadcast, 0, arg.base, size_);
      }
      for (int64_t at = begin; at < end; at += tile) Tile(whole, at, std::min(tile, end - at), work);
    });
  }

 private:
  static constexpr int64_t kCacheBytes = 32 << 10, kLargestTile = 1024;

  struct Arg {
    const char* base = nullptr;
    bool full = true;  // of the result's shape
    int64_t parts = 1, part = 0;
    Stretch how;
    const Broadcast* broadcast = nullptr;  // if it is stretched along dimensions that lie apart
  };
  // A value of one tile. `step` is 0 or 1, in elements.
  struct Operand {
    const char* at;
    int64_t step;
  };
  struct Whole {
    Shape shape;  // of all steps
    std::vector<Arg> args;
    std::vector<std::unique_ptr<Broadcast>> broadcasts;
    std::vector<char*> results;
    int64_t width = 1;  // of a row
    bool prefetch = false;
  };
  // What one thread has for its tiles.
  struct Work {
    Work(int64_t tile_bytes, int64_t tiles, size_t num_values)
        : tile_bytes(tile_bytes), scratch(tile_bytes * tiles), values(num_values) {}
    char* reg(int64_t i) const { return scratch.get() + i * tile_bytes; }

    const int64_t tile_bytes;
    TileMemory scratch;
    std::vector<Operand> values;
    std::vector<StretchedInput> stretched;  // arguments with a `broadcast`
  };

  // Values that are not given out: as few tiles as they need.
  void AssignRegisters() {
    std::vector<int> free;
    for (size_t i = 0; i < steps_.size(); ++i) {
      const FusedSteps::Step& step = steps_[i];
      for (int j = 0; j < step.inputs; ++j) {
        const int from = step.in[j] - num_args_;
        if (from < 0 || steps_.last_read(step.in[j]) != static_cast<int>(i) || regs_[from] < 0) continue;
        if (std::find(step.in, step.in + j, step.in[j]) == step.in + j) free.push_back(regs_[from]);
      }
      if (step.result >= 0 && joins_[step.result] == 1) continue;
      if (free.empty()) free.push_back(num_registers_++);
      regs_[i] = free.back();
      free.pop_back();
    }
  }

  // The shape of all steps, and how arguments are stretched to it. False if steps have different shapes.
  bool Plan(const KernelContext& k, Whole* whole) const {
    Shape* const shape = &whole->shape;
    std::vector<Arg>& args = whole->args;
    args.resize(num_args_);
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
      if (args[i].parts > 1) return false;
      if (const std::optional<Stretch> how = StretchTo(shapes[i], *shape)) {
        args[i].how = *how;
        continue;
      }
      const Shape* const both[] = {&shapes[i], shape};
      Broadcast* broadcast = whole->broadcasts.emplace_back(std::make_unique<Broadcast>()).get();
      if (!TryMakeBroadcast(both, broadcast) || broadcast->out != *shape) return false;
      args[i].broadcast = broadcast;
    }
    if (shape->rank() == 0 && std::ranges::any_of(joins_, [](int64_t n) { return n > 1; })) return false;
    const auto full = [&](int value) { return value >= num_args_ || args[value].full; };
    for (size_t i = 0; i < steps_.size(); ++i) {
      const FusedSteps::Step& step = steps_[i];
      const auto whole = std::count_if(step.in, step.in + step.inputs, full);
      if (whole == 0 || (step.loop && !step.loop->stretches && whole != step.inputs)) return false;
    }
    return true;
  }

  // A result may take the place of an argument that no later step reads.
  Tensor& Result(KernelContext& k, int result, int step, const Shape& shape) const {
    if (joins_[result] > 1) {
      Shape joined = shape;
      joined.set_dim(shape.rank() - 1, shape.dim(shape.rank() - 1) * joins_[result]);
      results_of_steps.Enter(2);
      return k.Output(result, joined);
    }
    for (int i = 0; i < num_args_; ++i) {
      if (steps_.last_read(i) <= step && parts_[2 * i] == 1 && k.CanTake(i) && k.shape(i) == shape) {
        results_of_steps.Enter(1);
        return k.OutputLike(result, {i}, shape);
      }
    }
    results_of_steps.Enter(0);
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

  void Tile(const Whole& whole, int64_t at, int64_t n, Work& work) const {
    std::vector<Operand>& values = work.values;
    auto stretched = work.stretched.begin();
    for (int i = 0; i < num_args_; ++i) {
      const auto& [base, full, parts, part, how, broadcast] = whole.args[i];
      const int64_t first = at / how.repeat % how.period;
      if (parts > 1) {
        arguments.Enter(0);
        char* const to = work.reg(num_registers_ + i);
        ForEachRow(at, n, whole.width, parts, part, [&](int64_t from, int64_t offset, int64_t length) {
          std::memcpy(to + offset * size_, base + from * size_, length * size_);
        });
        values[i] = {to, 1};
      } else if (full) {
        arguments.Enter(1);
        values[i] = {base + at * size_, 1};
      } else if (broadcast) {
        arguments.Enter(2);
        char* const to = work.reg(num_registers_ + i);
        (stretched++)->Make(at, n, to);
        values[i] = {to, 1};
      } else if (how.period == 1 || (how.repeat > 1 && at / how.repeat == (at + n - 1) / how.repeat)) {
        arguments.Enter(3);
        values[i] = {base + first * size_, 0};
      } else if (how.repeat == 1 && first + n <= how.period) {
        arguments.Enter(4);
        values[i] = {base + first * size_, 1};
      } else {
        char* const to = work.reg(num_registers_ + i);
        arguments.Enter(5);
        (size_ == 4 ? StretchInto<uint32_t> : StretchInto<uint64_t>)(base, how, at, n, to);
        values[i] = {to, 1};
      }
    }
    const int64_t part = n * size_ / static_cast<int64_t>(steps_.size());
    for (size_t i = 0; i < steps_.size(); ++i) {
      const FusedSteps::Step& step = steps_[i];
      for (int j = 0; j < num_args_ && whole.prefetch; ++j) {
        const Arg& arg = whole.args[j];
        if (arg.full && arg.parts == 1) PrefetchLines(arg.base + (at + n) * size_ + i * part, part);
      }
      const Operand &a = values[step.in[0]], &b = values[step.in[1]];
      char* const to = regs_[i] >= 0 ? work.reg(regs_[i]) : whole.results[step.result] + at * size_;
      if (step.select) {
        const Operand &t = values[step.in[2]], &e = values[step.in[3]];
        const void* const from[] = {a.at, b.at, t.at, e.at};
        const int64_t strides[] = {a.step, b.step, t.step, e.step};
        step.select(from, strides, to, n);
      } else if (step.inputs == 1) {
        step.loop->unary(a.at, to, n);
      } else {
        step.loop->binary(a.at, a.step, b.at, b.step, to, n);
      }
      values[num_args_ + i] = {to, 1};
      if (regs_[i] < 0 || step.result < 0) continue;
      ForEachRow(at, n, whole.width, joins_[step.result], places_[i],
                 [&](int64_t to_at, int64_t offset, int64_t length) {
                   std::memcpy(whole.results[step.result] + to_at * size_, to + offset * size_, length * size_);
                 });
    }
  }

  // The ops as they are, each with its own result: for shapes that differ from step to step, and to say what is wrong.
  void OneByOne(KernelContext& k) const {
    std::vector<Value> values(num_args_ + steps_.size());
    for (int i = 0; i < num_args_; ++i) values[i].tensor = parts_[2 * i] == 1 ? k.input(i) : Part(k, i);
    steps_.RunEach(k, values);
    for (size_t i = 0; i < steps_.size(); ++i) {
      const int r = steps_[i].result;
      if (r >= 0 && joins_[r] == 1) k.SetOutput(r, values[num_args_ + i].tensor);
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
      ForEachRow(0, value.num_elements(), width, joins_[result], places_[i],
                 [&](int64_t whole, int64_t offset, int64_t length) {
                   std::memcpy(joined->mutable_data<char>() + whole * size_, value.data<char>() + offset * size_,
                               length * size_);
                 });
    }
  }

  const DataType type_;
  const int64_t size_;
  const int num_args_;
  int num_registers_ = 0;
  FusedSteps steps_;
  std::vector<int> regs_;        // where a step's value lives if it is not given out as it is; else -1
  std::vector<int64_t> places_;  // of a step among those whose values are joined to one result
  std::vector<int64_t> parts_, joins_;
};

}  // namespace

void RegisterFusedElementwiseKernels(KernelRegistry& kernels) {
  kernels.Add<FusedElementwise>("_FusedElementwise", Types<float, double>{});
}

}  // namespace penstock
