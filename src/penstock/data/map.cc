// f of each element, one at a time.
#include "penstock/data/dataset_kernel.h"

namespace penstock::data {
namespace {

class MapDataset final : public Dataset {
 public:
  MapDataset(ElementSpec spec, Ref<const Dataset> input, CapturedFunction function, bool preserves_cardinality)
      : Dataset("Map", std::move(spec), {std::move(input)}),
        function_(std::move(function)),
        preserves_cardinality_(preserves_cardinality) {}
  // Also where the function may end the dataset, as in version 1.
  int64_t Cardinality() const override { return input().Cardinality(); }
  void RequireShuffleable() const override { input().RequireShuffleable(); }

 private:
  class Mapped final : public IteratorOverInput<MapDataset> {
   public:
    Mapped(const MapDataset& dataset, const Place& place)
        : IteratorOverInput(dataset, place), call_(dataset.function_, place) {}
    bool Next(Element* element) override {
      if (!input_->Next(element)) return false;
      try {
        MapElement(call_, !dataset().preserves_cardinality_, element);
      } catch (const Error& error) {
        if (!IsEnd(error)) throw;
        return false;
      }
      return true;
    }

   private:
    const BoundCall call_;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Mapped>(*this, place);
  }
  Accessor MakeAccessor(const Place& place) const override {
    return AccessMapped(input(), function_, !preserves_cardinality_, place);
  }
  const CapturedFunction function_;
  const bool preserves_cardinality_;
};

Ref<Dataset> MakeMap(DatasetArgs& args) {
  return MakeRef<MapDataset>(args.spec(), args.dataset(), args.Function("f", "other_arguments"),
                             args.attr<bool>("preserve_cardinality"));
}

}  // namespace

void RegisterMapDatasets(KernelRegistry& kernels) { AddDatasetAndTwin<MakeMap>(kernels, "MapDataset"); }

}  // namespace penstock::data
