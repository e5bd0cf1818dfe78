// Elements in windows: as datasets, or joined; and batches taken apart or cut anew.
#include <deque>

#include "penstock/data/background.h"
#include "penstock/data/batching.h"
#include "penstock/data/dataset_kernel.h"
#include "penstock/data/window.h"

namespace penstock::data {
namespace {

// The elements that a window holds, of one component or several.
class KeptDataset final : public Dataset {
 public:
  KeptDataset(ElementSpec spec, std::vector<Element> elements)
      : Dataset("Window", std::move(spec)), elements_(std::move(elements)) {}
  int64_t Cardinality() const override { return static_cast<int64_t>(elements_.size()); }
  // The spec, then all components of all elements.
  void Encode(std::string*, std::vector<Tensor>* tensors) const override {
    *tensors = EncodeSpec(spec());
    for (const Element& element : elements_) tensors->insert(tensors->end(), element.begin(), element.end());
  }

 private:
  class Kept final : public IteratorOf<KeptDataset> {
   public:
    using IteratorOf::IteratorOf;
    bool Next(Element* element) override {
      if (at_ >= dataset().Cardinality()) return false;
      *element = dataset().elements_[at_++];
      return true;
    }
    void Visit(State& state) override { state.Position("next", &at_, dataset().Cardinality()); }

   private:
    int64_t at_ = 0;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Kept>(*this, place);
  }
  Accessor MakeAccessor(const Place&) const override {
    return [this](int64_t index) { return elements_[static_cast<size_t>(index)]; };
  }
  const std::vector<Element> elements_;
};

struct Windows {
  int64_t size, shift, stride;
  bool drop_remainder;
};

// Whether all components have the same number of rows.
bool IsBatch(const Element& element) {
  return !element.empty() && std::all_of(element.begin(), element.end(), [&](const Tensor& t) {
    return t.rank() > 0 && t.dim(0) == element[0].dim(0);
  });
}

// Windows over the input: as one dataset for each component, or joined.
class WindowDataset final : public Dataset {
 public:
  WindowDataset(std::string name, ElementSpec spec, Ref<const Dataset> input, const Windows& windows, bool joins)
      : Dataset(std::move(name), std::move(spec), {std::move(input)}), windows_(windows), joins_(joins) {}
  int64_t Cardinality() const override {
    const int64_t n = input().Cardinality();
    if (n < 0) return n;
    const int64_t reach = (windows_.size - 1) * windows_.stride + 1;
    if (windows_.drop_remainder) return n < reach ? 0 : (n - reach) / windows_.shift + 1;
    return n / windows_.shift + (n % windows_.shift != 0);
  }

 private:
  class Slid final : public IteratorOverInput<WindowDataset> {
   public:
    using IteratorOverInput::IteratorOverInput;
    bool Next(Element* element) override {
      const Windows& w = dataset().windows_;
      const int64_t reach = w.size > (INT64_MAX - 1) / w.stride ? INT64_MAX : (w.size - 1) * w.stride + 1;
      // What lies between two windows is passed over, even if it fails.
      for (; gap_ > 0 && !ended_; --gap_) {
        const Made passed = Catch([&](Element* e) { return input_->Next(e); });
        if (passed.status.code() == Code::kCancelled) throw Error(passed.status);
        ended_ = passed.end;
      }
      while (!ended_ && static_cast<int64_t>(buffer_.size()) < reach) {
        Made made = Catch([&](Element* e) { return input_->Next(e); });
        if (made.status.code() == Code::kCancelled) throw Error(made.status);
        if (made.end) {
          ended_ = true;
        } else {
          buffer_.push_back(std::move(made));
        }
      }
      if (buffer_.empty() || (w.drop_remainder && static_cast<int64_t>(buffer_.size()) < reach)) {
        buffer_.clear();
        return false;
      }
      std::vector<Element> rows;
      Status status;
      for (int64_t i = 0; i < w.size && i * w.stride < static_cast<int64_t>(buffer_.size()); ++i) {
        const Made& made = buffer_[i * w.stride];
        if (!made.status.ok() && status.ok()) status = made.status;
        if (made.status.ok()) RequireComponents(made.element, dataset().input().types().size());
        rows.push_back(made.element);
      }
      const int64_t leaving = std::min<int64_t>(w.shift, static_cast<int64_t>(buffer_.size()));
      gap_ = w.shift - leaving;
      buffer_.erase(buffer_.begin(), buffer_.begin() + leaving);
      ThrowIfError(status);
      *element = dataset().joins_ ? Joined(rows) : AsDatasets(rows);
      return true;
    }
    void Visit(State& state) override {
      IteratorOverInput::Visit(state);
      state.Value("ended", &ended_);
      state.Position("gap", &gap_, dataset().windows_.shift);
      const int64_t n = state.Size("size", buffer_.size());
      buffer_.resize(static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i) data::Visit(state, StrCat("made_", i), &buffer_[i]);
    }

   private:
    static Element Joined(const std::vector<Element>& rows) {
      BatchBuilder batch(static_cast<int64_t>(rows.size()));
      for (const Element& row : rows) batch.Add(Element(row));
      return batch.Finish();
    }
    Element AsDatasets(const std::vector<Element>& rows) const {
      const ElementSpec& spec = dataset().input().spec();
      Element datasets;
      for (size_t c = 0; c < spec.types.size(); ++c) {
        std::vector<Element> components;
        for (const Element& row : rows) components.push_back({row[c]});
        datasets.push_back(ToVariant(Kept({{spec.types[c]}, {spec.shapes[c]}}, std::move(components))));
      }
      return datasets;
    }
    std::deque<Made> buffer_;
    bool ended_ = false;
    int64_t gap_ = 0;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Slid>(*this, place);
  }
  const Windows windows_;
  const bool joins_;
};

// The slices of each element, one after the other.
class UnbatchDataset final : public Dataset {
 public:
  UnbatchDataset(ElementSpec spec, Ref<const Dataset> input)
      : Dataset("Unbatch", std::move(spec), {std::move(input)}) {}
  int64_t Cardinality() const override {
    const int64_t n = input().Cardinality();
    if (n == kInfinite) return kInfinite;
    for (const PartialShape& shape : input().shapes()) {
      if (n >= 0 && shape.rank() > 0 && shape[0] >= 0) return n * shape[0];
    }
    return kUnknown;
  }

 private:
  class Rows final : public IteratorOverInput<UnbatchDataset> {
   public:
    using IteratorOverInput::IteratorOverInput;
    bool Next(Element* element) override {
      while (at_ >= rows_) {
        at_ = rows_ = 0;
        if (!input_->Next(&batch_)) return false;
        RequireComponents(batch_, dataset().types().size());
        for (const Tensor& t : batch_) {
          if (t.rank() == 0) throw InvalidArgument("Cannot unbatch a scalar");
          if (t.dim(0) != batch_[0].dim(0)) {
            throw InvalidArgument(
                "Input element must have the same batch size in each component. Component 0 had size ",
                batch_[0].dim(0), " but another component had size ", t.dim(0), ".");
          }
        }
        rows_ = batch_[0].dim(0);
      }
      element->resize(batch_.size());
      for (size_t c = 0; c < batch_.size(); ++c) (*element)[c] = Row(batch_[c], at_);
      ++at_;
      return true;
    }
    void Visit(State& state) override {
      IteratorOverInput::Visit(state);
      state.Value("batch", &batch_);
      state.Value("rows", &rows_);
      state.Position("at", &at_, rows_);
      State::Require(rows_ == 0 || (IsBatch(batch_) && batch_[0].dim(0) == rows_));
    }

   private:
    Element batch_;
    int64_t at_ = 0, rows_ = 0;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Rows>(*this, place);
  }
  Accessor MakeAccessor(const Place& place) const override {
    RequireKnownCardinality();
    const int64_t n = input().Cardinality(), rows = n > 0 ? Cardinality() / n : 1;
    return [input = input().Access(place), rows](int64_t index) {
      Element batch = input(index / rows);
      for (Tensor& t : batch) {
        if (t.rank() == 0 || t.dim(0) != rows) {
          throw InvalidArgument("Input element must be a batch of ", rows, " rows");
        }
        t = Row(t, index % rows);
      }
      return batch;
    };
  }
};

// Rows of the input's batches in batches of other sizes, which come in turns.
class RebatchDataset final : public Dataset {
 public:
  RebatchDataset(ElementSpec spec, Ref<const Dataset> input, std::vector<int64_t> sizes, bool drop_remainder)
      : Dataset("Rebatch", std::move(spec), {std::move(input)}),
        sizes_(std::move(sizes)),
        drop_remainder_(drop_remainder) {}

 private:
  class Cut final : public IteratorOverInput<RebatchDataset> {
   public:
    using IteratorOverInput::IteratorOverInput;
    bool Next(Element* element) override {
      if (ended_) return false;
      const int64_t wanted = dataset().sizes_[static_cast<size_t>(turn_)];
      turn_ = (turn_ + 1) % static_cast<int64_t>(dataset().sizes_.size());
      if (wanted == 0) return Empty(element);
      BatchBuilder batch(wanted);
      while (batch.size() < wanted && Refill()) {
        Element row;
        for (const Tensor& t : batch_) row.push_back(Row(t, at_));
        ++at_;
        batch.Add(std::move(row));
      }
      ended_ = batch.size() < wanted;
      if (batch.size() == 0 || (dataset().drop_remainder_ && batch.size() < wanted)) return false;
      *element = batch.Finish();
      return true;
    }
    void Visit(State& state) override {
      IteratorOverInput::Visit(state);
      state.Value("batch", &batch_);
      State::Require(batch_.empty() || IsBatch(batch_));
      state.Position("at", &at_);
      state.Position("turn", &turn_, static_cast<int64_t>(dataset().sizes_.size()) - 1);
      state.Value("ended", &ended_);
    }

   private:
    // Whether there is a row. The last batch stays, even if there is none.
    bool Refill() {
      while (batch_.empty() || at_ >= batch_[0].dim(0)) {
        Element next;
        if (!input_->Next(&next)) return false;
        RequireComponents(next, dataset().types().size());
        if (!IsBatch(next)) throw InvalidArgument("Input element must be a batch");
        batch_ = std::move(next);
        at_ = 0;
      }
      return true;
    }
    // Also behind the last row, until rows are wanted.
    bool Empty(Element* element) {
      if (batch_.empty() && !Refill()) return false;
      element->clear();
      for (const Tensor& t : batch_) element->push_back(t.Slice(0, 0));
      return true;
    }
    Element batch_;
    int64_t at_ = 0, turn_ = 0;
    bool ended_ = false;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Cut>(*this, place);
  }
  const std::vector<int64_t> sizes_;
  const bool drop_remainder_;
};

// Each batch cut into as many parts as there are replicas, the first ones larger by one row if it does not divide.
// The components may be of several sizes, as those of zipped datasets are.
class SplitBatchesDataset final : public Dataset {
 public:
  SplitBatchesDataset(ElementSpec spec, Ref<const Dataset> input, int64_t parts)
      : Dataset("Rebatch", std::move(spec), {std::move(input)}), parts_(parts) {}

 private:
  class Split final : public IteratorOverInput<SplitBatchesDataset> {
   public:
    using IteratorOverInput::IteratorOverInput;
    bool Next(Element* element) override {
      const int64_t parts = dataset().parts_;
      if (part_ == parts || batch_.empty()) {
        if (!input_->Next(&batch_)) return false;
        RequireComponents(batch_, dataset().types().size());
        if (!HaveRows(batch_)) throw InvalidArgument("Input element must be a batch");
        part_ = 0;
      }
      element->clear();
      for (const Tensor& t : batch_) {
        const int64_t rows = t.dim(0), size = (rows + parts - 1) / parts;
        const int64_t begin = std::min(rows, part_ * size), end = std::min(rows, begin + size);
        element->push_back(t.Slice(begin, end).Clone());
      }
      ++part_;
      return true;
    }
    void Visit(State& state) override {
      IteratorOverInput::Visit(state);
      state.Value("batch", &batch_);
      State::Require(HaveRows(batch_));
      state.Position("part", &part_, dataset().parts_);
    }

   private:
    static bool HaveRows(const Element& batch) {
      return std::ranges::all_of(batch, [](const Tensor& t) { return t.rank() > 0; });
    }
    Element batch_;
    int64_t part_ = 0;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Split>(*this, place);
  }
  const int64_t parts_;
};

Ref<Dataset> MakeWindow(DatasetArgs& args) {
  const Windows w{args.Int("size"), args.Int("shift"), args.Int("stride"), args.Bool("drop_remainder")};
  args.Require(w.size > 0, "Window size must be greater than zero.");
  args.Require(w.shift > 0, "Window shift must be greater than zero.");
  args.Require(w.stride > 0, "Window stride must be greater than zero.");
  return MakeRef<WindowDataset>("Window", args.spec(), args.dataset(), w, false);
}

Ref<Dataset> MakeSlidingWindow(DatasetArgs& args) {
  const Windows w{args.Int("window_size"), args.Int("window_shift"), args.Int("window_stride"),
                  args.attr<bool>("drop_remainder", true)};
  args.Require(w.size > 0, "Window size must be greater than zero.");
  args.Require(w.shift > 0, "Window shift must be greater than zero.");
  args.Require(w.stride > 0, "window_stride must be greater than zero.");
  return MakeRef<WindowDataset>("SlidingWindow", args.spec(), args.dataset(), w, true);
}

Ref<Dataset> MakeUnbatch(DatasetArgs& args) { return MakeRef<UnbatchDataset>(args.spec(), args.dataset()); }

Ref<Dataset> MakeRebatch(DatasetArgs& args) {
  const std::vector<int64_t> sizes = args.kernel().Ints(1);
  args.Require(!sizes.empty(), "Input batch_sizes must not be empty");
  for (const int64_t size : sizes) args.Require(size >= 0, "Input batch_sizes must not be negative");
  return MakeRef<RebatchDataset>(args.spec(), args.dataset(), sizes, args.Bool("drop_remainder"));
}

Ref<Dataset> MakeSplitBatches(DatasetArgs& args) {
  const int64_t parts = args.Int("num_replicas");
  args.Require(parts > 0, "num_replicas must be greater than zero.");
  return MakeRef<SplitBatchesDataset>(args.spec(), args.dataset(), parts);
}

}  // namespace

// The types, and for each shape its rank and sizes.
std::vector<Tensor> EncodeSpec(const ElementSpec& spec) {
  std::vector<int32_t> types;
  std::vector<int64_t> shapes;
  for (const DataType type : spec.types) types.push_back(type);
  for (const PartialShape& shape : spec.shapes) {
    shapes.push_back(shape.rank());
    shapes.insert(shapes.end(), shape.dims().begin(), shape.dims().end());
  }
  return {Tensor::Vector(types), Tensor::Vector(shapes)};
}

ElementSpec DecodeSpec(const std::vector<Tensor>& tensors) {
  const auto require = [](bool ok) {
    if (!ok) throw DataLoss("The variant does not hold a dataset");
  };
  require(tensors.size() >= 2 && tensors[0].dtype() == DT_INT32 && tensors[1].dtype() == DT_INT64);
  ElementSpec spec;
  for (const int32_t type : tensors[0].flat<int32_t>()) spec.types.push_back(static_cast<DataType>(type));
  const auto sizes = tensors[1].flat<int64_t>();
  for (size_t at = 0; at < sizes.size();) {
    const int64_t rank = sizes[at++];
    require(rank >= -1 && rank <= static_cast<int64_t>(sizes.size() - at));
    if (rank < 0) {
      spec.shapes.emplace_back();
      continue;
    }
    spec.shapes.emplace_back(std::vector<int64_t>(sizes.begin() + at, sizes.begin() + at + rank));
    at += static_cast<size_t>(rank);
  }
  require(!spec.types.empty() && spec.shapes.size() == spec.types.size());
  return spec;
}

Ref<VariantValue> DecodeKept(std::string_view, std::vector<Tensor> tensors) {
  ElementSpec spec = DecodeSpec(tensors);
  const size_t n = spec.types.size();
  const auto require = [](bool ok) {
    if (!ok) throw DataLoss("The variant does not hold a window");
  };
  require((tensors.size() - 2) % n == 0);
  std::vector<Element> elements;
  for (size_t at = 2; at < tensors.size(); at += n) {
    elements.emplace_back(tensors.begin() + static_cast<int64_t>(at), tensors.begin() + static_cast<int64_t>(at + n));
    for (size_t c = 0; c < n; ++c) require(elements.back()[c].dtype() == spec.types[c]);
  }
  return Kept(std::move(spec), std::move(elements));
}

Ref<Dataset> Kept(ElementSpec spec, std::vector<Element> elements) {
  return MakeRef<KeptDataset>(std::move(spec), std::move(elements));
}

void RegisterWindowDatasets(KernelRegistry& kernels) {
  AddDataset<MakeWindow>(kernels, "WindowDataset");
  AddDatasetAndTwin<MakeSlidingWindow>(kernels, "SlidingWindowDataset");
  AddDatasetAndTwin<MakeUnbatch>(kernels, "UnbatchDataset");
  AddDataset<MakeRebatch>(kernels, "RebatchDatasetV2");
  AddDatasetAndTwin<MakeSplitBatches>(kernels, "RebatchDataset");
}

}  // namespace penstock::data
