// What a function gives, again and again: Python's generators.
#include "penstock/data/dataset_kernel.h"

namespace penstock::data {
namespace {

class GeneratorDataset final : public Dataset {
 public:
  GeneratorDataset(ElementSpec spec, CapturedFunction init, CapturedFunction next, CapturedFunction finalize)
      : Dataset("Generator", std::move(spec)),
        init_(std::move(init)),
        next_(std::move(next)),
        finalize_(std::move(finalize)) {}

 private:
  class Generated final : public IteratorOf<GeneratorDataset> {
   public:
    Generated(const GeneratorDataset& dataset, const Place& place)
        : IteratorOf(dataset, place),
          init_(dataset.init_, place),
          next_(dataset.next_, place),
          finalize_(dataset.finalize_, place) {
      place.context->ends_slowly.store(true);
    }
    ~Generated() override {
      try {
        if (begun_ && !ended_) finalize_.CallAnyway(made_by_init_);
      } catch (const Error&) {  // nobody is left to be told
      }
    }
    bool Next(Element* element) override {
      if (!begun_) {
        init_({}, &made_by_init_);
        begun_ = true;
      }
      if (ended_) return false;
      try {
        next_(made_by_init_, element);
      } catch (const Error& error) {
        if (!IsEnd(error)) throw;
        ended_ = true;
        finalize_.CallAnyway(made_by_init_);
        return false;
      }
      return true;
    }
    void Visit(State&) override { throw Unimplemented("GeneratorDataset does not support checkpointing."); }

   private:
    const BoundCall init_, next_, finalize_;
    Element made_by_init_;
    bool begun_ = false, ended_ = false;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Generated>(*this, place);
  }
  const CapturedFunction init_, next_, finalize_;
};

Ref<Dataset> MakeGenerator(DatasetArgs& args) {
  return MakeRef<GeneratorDataset>(args.spec(), args.Function("init_func", "init_func_other_args"),
                                   args.Function("next_func", "next_func_other_args"),
                                   args.Function("finalize_func", "finalize_func_other_args"));
}

}  // namespace

void RegisterGeneratorDatasets(KernelRegistry& kernels) { AddDataset<MakeGenerator>(kernels, "GeneratorDataset"); }

}  // namespace penstock::data
