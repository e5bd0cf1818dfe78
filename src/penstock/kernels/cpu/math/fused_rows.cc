// Functions of rows and reductions of rows, block of rows by block: what is between the first and the last stays in the
// cache. Each step is the loop of the op's own kernel, so the result is that of the ops one by one, bit by bit.
#include <algorithm>
#include <memory>

#include "penstock/base/branches.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/math/fused_steps.h"

namespace penstock {
namespace {

constinit BranchTable<2> ways{"fused_rows/way", {"blocks", "one by one"}};
constinit BranchTable<3> steps{"fused_rows/step", {"reduction", "at once", "row by row"}};

constinit BranchTable<2> results_of_steps{"fused_rows/result", {"new memory", "an argument's memory"}};

class FusedRows {
 public:
  explicit FusedRows(const NodeView& node)
      : size_(DataTypeSize(node.attr<DataType>("T"))),
        num_args_(node.num_inputs()),
        steps_(node),
        of_rows_(node.attr<std::vector<bool>>("of_rows")),
        at_(steps_.size()) {
    const auto& results = node.attr<std::vector<int64_t>>("results");
    if (of_rows_.size() != steps_.size() || static_cast<int>(results.size()) != node.num_outputs())
      throw InvalidArgument("steps or results do not fit");
    for (size_t r = 0; r < results.size(); ++r) {
      if (results[r] < 0 || results[r] >= static_cast<int64_t>(steps_.size()) || steps_[results[r]].result >= 0)
        throw InvalidArgument("no such result");
      steps_[results[r]].result = static_cast<int>(r);
    }
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (steps_[i].select) throw InvalidArgument("rows are not joined with ", steps_[i].view.op().name);
      if (steps_[i].reduction && of_rows_[i]) throw InvalidArgument("a reduction gives one number for each row");
    }
    AssignRegisters();
  }

  void operator()(KernelContext& k) const {
    Plan plan;
    const bool planned = MakePlan(k, &plan);
    ways.Enter(planned ? 0 : 1);
    if (!planned) return OneByOne(k);
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (const int r = steps_[i].result; r >= 0) plan.results[r] = Result(k, plan, i);
    }
    const int64_t row_bytes = plan.width * size_;
    plan.prefetch = plan.rows * row_bytes >= kPrefetchBytes;
    const int64_t streams = num_rows_ + num_args_ + k.num_outputs();
    const int64_t block = std::clamp<int64_t>(kCacheBytes / (row_bytes * streams), 1, kMostRows);
    const int64_t cost = std::max<int64_t>(1, block * plan.width * steps_.picoseconds() / 1000);
    k.Parallel((plan.rows + block - 1) / block, cost, [&](int64_t begin, int64_t end) {
      const TileMemory scratch(block * (num_rows_ * row_bytes + num_numbers_ * size_));
      std::vector<char*> values(num_args_ + steps_.size());
      for (size_t i = 0; i < steps_.size(); ++i) {
        if (steps_[i].result >= 0) continue;
        values[num_args_ + i] =
            scratch.get() + block * (of_rows_[i] ? at_[i] * row_bytes : num_rows_ * row_bytes + at_[i] * size_);
      }
      for (int64_t row = begin * block; row < std::min(plan.rows, end * block); row += block)
        Block(plan, row, std::min(block, plan.rows - row), values);
    });
  }

 private:
  static constexpr int64_t kCacheBytes = 32 << 10, kMostRows = 64;

  // What a value has for a row: all its elements, one number, or (an argument) something that is stretched.
  enum class Form { kRows, kNumbers, kOther };
  struct Arg {
    const char* base = nullptr;
    Form form = Form::kRows;
    Stretch how;
  };
  struct Plan {
    Shape shape, numbers;  // of whole rows; of one number for each
    int64_t rows = 1, width = 1;
    std::vector<Arg> args;
    std::vector<char*> results;
    bool prefetch = false;
  };

  // Values that are not given out: as few rows, and numbers, as they need. No step writes where it reads a number.
  void AssignRegisters() {
    std::vector<int64_t> free;
    for (size_t i = 0; i < steps_.size(); ++i) {
      const FusedSteps::Step& step = steps_[i];
      if (step.result < 0) {
        if (!of_rows_[i]) {
          at_[i] = num_numbers_++;
        } else if (free.empty()) {
          at_[i] = num_rows_++;
        } else {
          at_[i] = free.back();
          free.pop_back();
        }
      }
      for (int j = 0; j < step.inputs; ++j) {
        const int from = step.in[j] - num_args_;
        const bool twice = j == 1 && step.in[0] == step.in[1];
        if (from >= 0 && of_rows_[from] && steps_[from].result < 0 && !twice &&
            steps_.last_read(step.in[j]) == static_cast<int>(i)) {
          free.push_back(at_[from]);
        }
      }
    }
  }

  Form FormOf(const Plan& plan, int value) const {
    if (value < num_args_) return plan.args[value].form;
    return of_rows_[value - num_args_] ? Form::kRows : Form::kNumbers;
  }
  const Shape& ShapeOf(const KernelContext& k, const Plan& plan, int value) const {
    if (value < num_args_) return k.shape(value);
    return of_rows_[value - num_args_] ? plan.shape : plan.numbers;
  }

  // False if a step's result has another shape than was thought, or arguments are stretched in a way that does not
  // come out even.
  bool MakePlan(const KernelContext& k, Plan* plan) const {
    for (int i = 0; i < num_args_; ++i) {
      const Shape& shape = k.shape(i);
      if (shape.rank() > plan->shape.rank() || shape.num_elements() > plan->shape.num_elements()) plan->shape = shape;
    }
    const int last = plan->shape.rank() - 1;
    if (last < 0 || plan->shape.num_elements() == 0) return false;
    plan->numbers = plan->shape;
    plan->numbers.set_dim(last, 1);
    plan->width = plan->shape.dim(last);
    plan->rows = plan->numbers.num_elements();
    if (plan->width == 1) return false;
    for (int i = 0; i < num_args_; ++i) {
      Arg& arg = plan->args.emplace_back();
      arg.base = static_cast<const char*>(k.input(i).raw());
      if (k.shape(i) == plan->shape) continue;
      const std::optional<Stretch> how = StretchTo(k.shape(i), plan->shape);
      if (!how) return false;
      arg.form = k.shape(i) == plan->numbers ? Form::kNumbers : Form::kOther;
      arg.how = *how;
    }
    plan->results.resize(k.num_outputs());
    for (size_t i = 0; i < steps_.size(); ++i) {
      const FusedSteps::Step& step = steps_[i];
      const Shape& first = ShapeOf(k, *plan, step.in[0]);
      if (step.reduction) {
        if (first != plan->shape) return false;
        continue;
      }
      const Shape& wanted = of_rows_[i] ? plan->shape : plan->numbers;
      const Shape& second = step.inputs == 2 ? ShapeOf(k, *plan, step.in[1]) : first;
      if (!Makes(first, second, wanted) || (first != second && !step.loop->stretches)) return false;
    }
    return true;
  }

  // Whether two shapes are stretched to `wanted`.
  static bool Makes(const Shape& a, const Shape& b, const Shape& wanted) {
    if (std::max(a.rank(), b.rank()) != wanted.rank()) return false;
    for (int d = 0; d < wanted.rank(); ++d) {
      const int in_a = d - wanted.rank() + a.rank(), in_b = d - wanted.rank() + b.rank();
      const int64_t one = in_a < 0 ? 1 : a.dim(in_a), other = in_b < 0 ? 1 : b.dim(in_b);
      if (std::max(one, other) != wanted.dim(d) || (one != other && std::min(one, other) != 1)) return false;
    }
    return true;
  }

  // A result may take the place of an argument that no later step reads.
  char* Result(KernelContext& k, const Plan& plan, size_t step) const {
    const int r = steps_[step].result;
    const Shape& shape = of_rows_[step] ? plan.shape : plan.numbers;
    for (int i = 0; i < num_args_; ++i) {
      if (steps_.last_read(i) <= static_cast<int>(step) && k.shape(i) == shape && k.CanTake(i)) {
        results_of_steps.Enter(1);
        return static_cast<char*>(k.OutputLike(r, {i}, shape).mutable_raw());
      }
    }
    results_of_steps.Enter(0);
    return static_cast<char*>(k.Output(r, shape).mutable_raw());
  }

  // An argument's elements for a row, or its number.
  const char* ArgAt(const Plan& plan, const Arg& arg, int64_t row) const {
    return arg.base + row * plan.width / arg.how.repeat % arg.how.period * size_;
  }

  void Block(const Plan& plan, int64_t row, int64_t rows, std::vector<char*>& values) const {
    for (int i = 0; i < num_args_; ++i) {
      const Arg& arg = plan.args[i];
      const int64_t at = arg.form == Form::kRows ? row * plan.width : arg.form == Form::kNumbers ? row : 0;
      values[i] = const_cast<char*>(arg.base) + at * size_;
    }
    const int64_t bytes = rows * plan.width * size_, part = bytes / static_cast<int64_t>(steps_.size());
    for (size_t i = 0; i < steps_.size(); ++i) {
      const FusedSteps::Step& step = steps_[i];
      for (int j = 0; j < num_args_ && plan.prefetch; ++j) {
        if (plan.args[j].form == Form::kRows) PrefetchLines(values[j] + bytes + i * part, part);
      }
      if (step.result >= 0)
        values[num_args_ + i] = plan.results[step.result] + row * (of_rows_[i] ? plan.width : 1) * size_;
      char* const to = values[num_args_ + i];
      if (step.reduction) {
        steps.Enter(0);
        step.reduction->rows(values[step.in[0]], rows, plan.width, to);
        if (step.is_mean) Divide(to, rows, plan.width);
      } else {
        Elementwise(plan, step, row, rows, of_rows_[i], values, to);
      }
    }
  }

  void Elementwise(const Plan& plan, const FusedSteps::Step& step, int64_t row, int64_t rows, bool of_rows,
                   const std::vector<char*>& values, char* to) const {
    const Form wanted = of_rows ? Form::kRows : Form::kNumbers;
    const auto stays = [&](int value) {  // all through the block
      return FormOf(plan, value) == Form::kOther && plan.args[value].how.period == 1;
    };
    bool at_once = true;
    for (int j = 0; j < step.inputs; ++j) at_once &= FormOf(plan, step.in[j]) == wanted || stays(step.in[j]);
    const int64_t n = of_rows ? plan.width : 1;
    steps.Enter(at_once ? 1 : 2);
    if (at_once) {
      if (step.inputs == 1) return step.loop->unary(values[step.in[0]], to, rows * n);
      return step.loop->binary(values[step.in[0]], !stays(step.in[0]), values[step.in[1]], !stays(step.in[1]), to,
                               rows * n);
    }
    for (int64_t r = 0; r < rows; ++r) {
      const char* from[2];
      int64_t strides[2];
      for (int j = 0; j < step.inputs; ++j) {
        const int value = step.in[j];
        switch (FormOf(plan, value)) {
          case Form::kRows: from[j] = values[value] + r * plan.width * size_, strides[j] = 1; break;
          case Form::kNumbers: from[j] = values[value] + r * size_, strides[j] = 0; break;
          case Form::kOther: {
            const Arg& arg = plan.args[value];
            from[j] = ArgAt(plan, arg, row + r);
            strides[j] = arg.how.repeat == 1 && arg.how.period > 1;
          }
        }
      }
      char* const out = to + r * n * size_;
      if (step.inputs == 1) {
        step.loop->unary(from[0], out, n);
      } else {
        step.loop->binary(from[0], strides[0], from[1], strides[1], out, n);
      }
    }
  }

  void Divide(char* values, int64_t n, int64_t count) const {
    const auto all = [&](auto* numbers) {
      for (int64_t i = 0; i < n; ++i) numbers[i] /= static_cast<std::remove_pointer_t<decltype(numbers)>>(count);
    };
    if (size_ == 4) {
      all(reinterpret_cast<float*>(values));
    } else {
      all(reinterpret_cast<double*>(values));
    }
  }

  void OneByOne(KernelContext& k) const {
    std::vector<Value> values(num_args_ + steps_.size());
    for (int i = 0; i < num_args_; ++i) values[i].tensor = k.input(i);
    steps_.RunEach(k, values);
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (const int r = steps_[i].result; r >= 0) k.SetOutput(r, values[num_args_ + i].tensor);
    }
  }

  const int64_t size_;
  const int num_args_;
  FusedSteps steps_;
  const std::vector<bool> of_rows_;
  std::vector<int64_t> at_;  // which row, or number, of the scratch memory has a step's value
  int64_t num_rows_ = 0, num_numbers_ = 0;
};

}  // namespace

void RegisterFusedRowsKernels(KernelRegistry& kernels) { kernels.Add<FusedRows>("_FusedRows", Types<float, double>{}); }

}  // namespace penstock
