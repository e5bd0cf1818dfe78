// start, start + step, ... before stop.
#include "penstock/data/dataset_kernel.h"

namespace penstock::data {
namespace {

Tensor Number(DataType type, int64_t value) {
  switch (type) {
#define PENSTOCK_CASE(T) \
  case kTypeOf<T>: return Tensor(static_cast<T>(value))
    PENSTOCK_CASE(int64_t);
    PENSTOCK_CASE(int32_t);
    PENSTOCK_CASE(int16_t);
    PENSTOCK_CASE(int8_t);
    PENSTOCK_CASE(uint64_t);
    PENSTOCK_CASE(uint32_t);
    PENSTOCK_CASE(uint16_t);
    PENSTOCK_CASE(uint8_t);
    PENSTOCK_CASE(float);
    PENSTOCK_CASE(double);
    PENSTOCK_CASE(Half);
    PENSTOCK_CASE(BFloat16);
#undef PENSTOCK_CASE
    default: throw InvalidArgument("Unsupported data type: ", type);
  }
}

class RangeDataset final : public Dataset {
 public:
  RangeDataset(ElementSpec spec, int64_t start, int64_t stop, int64_t step)
      : Dataset("Range", std::move(spec)), start_(start), stop_(stop), step_(step), size_(SizeOf(start, stop, step)) {}
  // What goes as far as numbers do counts as without end, as in `enumerate`.
  int64_t Cardinality() const override { return stop_ == INT64_MAX ? kInfinite : size_; }
  void RequireShuffleable() const override {}

 private:
  // In unsigned numbers: stop - start need not fit into an int64.
  static int64_t SizeOf(int64_t start, int64_t stop, int64_t step) {
    if (step > 0 ? start >= stop : start <= stop) return 0;
    const uint64_t span = step > 0 ? uint64_t(stop) - uint64_t(start) : uint64_t(start) - uint64_t(stop);
    const uint64_t stride = step > 0 ? uint64_t(step) : -uint64_t(step);
    return static_cast<int64_t>(std::min<uint64_t>(INT64_MAX, (span - 1) / stride + 1));
  }

  class Numbers final : public IteratorOf<RangeDataset> {
   public:
    using IteratorOf::IteratorOf;
    bool Next(Element* element) override {
      if (at_ >= dataset().size_) return false;
      element->resize(1);
      (*element)[0] = dataset().At(at_++);
      return true;
    }
    int64_t Skip(int64_t n) override {
      const int64_t skipped = std::clamp<int64_t>(dataset().size_ - at_, 0, n);
      at_ += skipped;
      return skipped;
    }
    void Visit(State& state) override { state.Position("next", &at_); }

   private:
    int64_t at_ = 0;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Numbers>(*this, place);
  }
  Accessor MakeAccessor(const Place&) const override {
    return [this](int64_t index) { return Element{At(index)}; };
  }
  Tensor At(int64_t index) const { return Number(types()[0], start_ + index * step_); }
  const int64_t start_, stop_, step_, size_;
};

Ref<Dataset> MakeRange(DatasetArgs& args) {
  const int64_t step = args.Int("step");
  args.Require(step != 0, "step must be a non-zero integer.");
  ElementSpec spec = args.spec();
  args.Require(spec.types.size() == 1, "RangeDataset has elements of one component");
  (void)Number(spec.types[0], 0);  // InvalidArgument for types that are no numbers
  return MakeRef<RangeDataset>(std::move(spec), args.Int("start"), args.Int("stop"), step);
}

}  // namespace

void RegisterRangeDatasets(KernelRegistry& kernels) { AddDataset<MakeRange>(kernels, "RangeDataset"); }

}  // namespace penstock::data
