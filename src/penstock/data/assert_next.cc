// Datasets that look at what stands around them: for tests of how pipelines are rewritten.
#include <algorithm>

#include "penstock/data/dataset_kernel.h"

namespace penstock::data {
namespace {

// Fails when it is begun unless the transformations around it are those that are named, the nearest first.
class AssertNextDataset final : public Dataset {
 public:
  AssertNextDataset(Ref<const Dataset> input, std::vector<std::string> expected)
      : Dataset("AssertNext", input->spec(), {input}), expected_(std::move(expected)) {}
  int64_t Cardinality() const override { return input().Cardinality(); }

 private:
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    std::vector<std::string_view> around;  // "Iterator", "Root", ..., "Map", "AssertNext"
    for (size_t at = 0; at <= place.prefix.size();) {
      const size_t end = std::min(place.prefix.find("::", at), place.prefix.size());
      around.push_back(std::string_view(place.prefix).substr(at, end - at));
      at = end + 2;
    }
    std::reverse(around.begin(), around.end());
    const size_t found = around.size() < 3 ? 0 : around.size() - 3;
    if (expected_.size() > found) {
      throw InvalidArgument("Asserted next ", expected_.size(), " transformations but encountered only ", found, ".");
    }
    for (size_t i = 0; i < expected_.size(); ++i) {
      std::string_view name = around[i + 1];
      name = name.substr(0, name.find('['));
      if (name != expected_[i] && WithoutVersion(name) != expected_[i]) {
        throw InvalidArgument("Asserted ", expected_[i], " transformation at offset ", i, " but encountered ", name,
                              " transformation instead.");
      }
    }
    return input().Begin({place.context, place.prefix});
  }
  const std::vector<std::string> expected_;
};

// Fails when it is begun unless the input is made by the transformations that are named, the nearest first.
class AssertPrevDataset final : public Dataset {
 public:
  AssertPrevDataset(Ref<const Dataset> input, std::vector<std::string> expected)
      : Dataset("AssertPrev", input->spec(), {input}), expected_(std::move(expected)) {}
  int64_t Cardinality() const override { return input().Cardinality(); }

 private:
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    const Dataset* at = &input();
    for (size_t i = 0; i < expected_.size(); ++i) {
      const std::string found = !at ? "nothing" : at->recipe().op ? at->recipe().op->name : at->name();
      if (!expected_[i].starts_with(found) && !found.starts_with(expected_[i])) {
        throw InvalidArgument("Asserted transformation matching '", expected_[i], "', but found '", found, "'.");
      }
      at = at->inputs().empty() ? nullptr : at->inputs()[0].get();
    }
    return input().Begin({place.context, place.prefix});
  }
  const std::vector<std::string> expected_;
};

Ref<Dataset> MakeAssertNext(DatasetArgs& args) {
  return MakeRef<AssertNextDataset>(args.dataset(), args.Strings("transformations"));
}
Ref<Dataset> MakeAssertPrev(DatasetArgs& args) {
  return MakeRef<AssertPrevDataset>(args.dataset(), args.Strings("transformations"));
}

}  // namespace

void RegisterAssertNextDatasets(KernelRegistry& kernels) {
  AddDatasetAndTwin<MakeAssertNext>(kernels, "AssertNextDataset");
  AddDataset<MakeAssertPrev>(kernels, "AssertPrevDataset");
}

}  // namespace penstock::data
