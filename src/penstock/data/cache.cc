// Elements that are kept after the first iteration: in memory or in files.
#include <atomic>

#include "penstock/data/dataset_kernel.h"
#include "penstock/io/files.h"
#include "penstock/io/tensor_bundle.h"

namespace penstock::data {
namespace {

// The place of the input of a cache that is being filled.
Place Inside(const Place& cache) { return {cache.context, cache.prefix + "Impl"}; }

// What one iteration has put together, for all that follow.
class MemoryCache final : public Resource {
 public:
  using Elements = std::shared_ptr<const std::vector<Element>>;
  Elements Find() const {
    std::lock_guard lock(mutex_);
    return elements_;
  }
  void Complete(std::vector<Element> elements) {
    std::lock_guard lock(mutex_);
    if (!elements_) elements_ = std::make_shared<const std::vector<Element>>(std::move(elements));
  }
  // Elements that were asked for by their places, before there are all.
  bool FindAt(int64_t index, Element* element) const {
    std::lock_guard lock(mutex_);
    const auto it = at_.find(index);
    if (it != at_.end()) *element = it->second;
    return it != at_.end();
  }
  void Keep(int64_t index, const Element& element) {
    std::lock_guard lock(mutex_);
    at_.emplace(index, element);
  }
  std::string DebugString() const override { return "MemoryCache"; }

 private:
  mutable std::mutex mutex_;
  Elements elements_;
  std::map<int64_t, Element> at_;
};

class MemoryCacheDataset final : public Dataset {
 public:
  MemoryCacheDataset(Ref<const Dataset> input, Ref<MemoryCache> cache)
      : Dataset("MemoryCache", input->spec(), {input}), cache_(std::move(cache)) {}
  int64_t Cardinality() const override { return input().Cardinality(); }
  void RequireShuffleable() const override { input().RequireShuffleable(); }

 private:
  class Cached final : public IteratorOf<MemoryCacheDataset> {
   public:
    Cached(const MemoryCacheDataset& dataset, const Place& place)
        : IteratorOf(dataset, place), kept_(dataset.cache_->Find()) {
      if (!kept_) input_ = BeginInput();
    }
    bool Next(Element* element) override {
      if (kept_) {
        if (at_ >= static_cast<int64_t>(kept_->size())) return false;
        *element = (*kept_)[at_++];
        return true;
      }
      const bool there = input_->Next(element);
      if (there) seen_.push_back(*element);
      const auto seen = static_cast<int64_t>(seen_.size());
      if (there && seen != dataset().Cardinality()) return true;
      // All are there, if the number is known even before somebody asks for one more.
      at_ = seen;
      dataset().cache_->Complete(std::move(seen_));
      kept_ = dataset().cache_->Find();
      input_.reset();
      return there;
    }
    void Visit(State& state) override {
      state.Position("at", &at_);
      bool complete = kept_ != nullptr;
      state.Value("complete", &complete);
      std::vector<Element> elements = kept_ ? *kept_ : seen_;
      state.Values("elements", &elements);
      state.Nested("input", &input_, [&] { return BeginInput(); });
      if (!state.restores()) return;
      State::Require(complete == (input_ == nullptr));
      if (complete) dataset().cache_->Complete(elements);
      kept_ = complete ? dataset().cache_->Find() : nullptr;
      seen_ = complete ? std::vector<Element>() : std::move(elements);
    }

   private:
    std::unique_ptr<Iterator> BeginInput() const { return dataset().input().Begin(Inside(place())); }
    MemoryCache::Elements kept_;
    int64_t at_ = 0;
    std::vector<Element> seen_;
    std::unique_ptr<Iterator> input_;  // while the cache is not complete
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Cached>(*this, place);
  }
  // Elements of an input that has no accessor are made in their order: all, or up to the one that is wanted if they
  // have no end.
  Accessor MakeAccessor(const Place& place) const override {
    Accessor input_access;
    try {
      input_access = input().Access(Inside(place));
    } catch (const Error& error) {
      if (error.code() != Code::kUnimplemented && error.code() != Code::kFailedPrecondition) throw;
    }
    return [this, place, input_access](int64_t index) {
      Element element;
      if (const auto all = cache_->Find()) {
        RequireIndex(index, static_cast<int64_t>(all->size()));
        return (*all)[static_cast<size_t>(index)];
      }
      if (cache_->FindAt(index, &element)) return element;
      if (input_access) {
        element = input_access(index);
        cache_->Keep(index, element);
        return element;
      }
      RequireIndex(index, kUnknown);
      Cached iterator(*this, place);
      const bool stops = Cardinality() == kInfinite;
      for (int64_t i = 0; iterator.Next(&element); ++i) {
        if (!stops) continue;
        cache_->Keep(i, element);
        if (i == index) return element;
      }
      const auto all = cache_->Find();
      RequireIndex(index, static_cast<int64_t>(all->size()));
      return (*all)[static_cast<size_t>(index)];
    };
  }
  const Ref<MemoryCache> cache_;
};

// A tensor bundle with one entry for each component of each element, and a lock file while it is written.
class FileCacheDataset final : public Dataset {
 public:
  FileCacheDataset(Ref<const Dataset> input, std::string prefix)
      : Dataset("FileCache", input->spec(), {input}), prefix_(std::move(prefix)) {}
  int64_t Cardinality() const override { return input().Cardinality(); }

 private:
  static std::string KeyOf(int64_t element, size_t component) {
    const std::string number = std::to_string(element);
    return StrCat(std::string(number.size() < 19 ? 19 - number.size() : 0, '0'), number, "_", component);
  }

  class Cached final : public IteratorOf<FileCacheDataset> {
   public:
    Cached(const FileCacheDataset& dataset, const Place& place) : IteratorOf(dataset, place) {}
    ~Cached() override {
      if (!writer_) return;
      try {
        Unlock();
      } catch (const Error&) {  // somebody removed the directory
      }
    }
    bool Next(Element* element) override {
      if (!begun_) Begin();
      if (ended_) return false;
      if (reader_) return Read(element);
      if (input_->Next(element)) {
        for (size_t c = 0; c < element->size(); ++c) writer_->Add(KeyOf(at_, c), (*element)[c]);
        ++at_;
        return true;
      }
      writer_->Finish();
      writer_.reset();
      Unlock();
      ended_ = true;
      return false;
    }
    void Visit(State& state) override {
      int64_t at = at_;
      bool ended = ended_;
      state.Value("at", &at);
      state.Value("ended", &ended);
      if (!state.restores()) return;
      // A file that was not complete is begun again: the elements before are made once more.
      Element passed;
      while (at_ < at && Next(&passed)) context().ThrowIfStopped();
      ended_ = ended;
    }

   private:
    void Begin() {
      const std::string& prefix = dataset().prefix_;
      if (FileExists(prefix + ".index")) {
        reader_ = std::make_unique<BundleReader>(prefix);
      } else {
        const std::string lock = prefix + "_0.lockfile";
        if (FileExists(lock)) {
          throw AlreadyExists(
              "There appears to be a concurrent caching iterator running - cache lockfile already exists ('", lock,
              "'). If you are sure no other running TF computations are using this cache prefix, ",
              "delete the lockfile and re-initialize the iterator. Lockfile contents: ", ReadWholeFile(lock));
        }
        WriteWholeFile(lock, "Created by Penstock");
        writer_ = std::make_unique<BundleWriter>(prefix);
        input_ = dataset().input().Begin(Inside(place()));
      }
      begun_ = true;
    }
    bool Read(Element* element) {
      if (!reader_->Find(KeyOf(at_, 0))) {
        ended_ = true;
        return false;
      }
      element->clear();
      for (size_t c = 0; c < dataset().types().size(); ++c) element->push_back(reader_->Read(KeyOf(at_, c)));
      ++at_;
      return true;
    }
    void Unlock() { RemoveFile(dataset().prefix_ + "_0.lockfile"); }

    bool begun_ = false, ended_ = false;
    int64_t at_ = 0;
    std::unique_ptr<BundleReader> reader_;
    std::unique_ptr<BundleWriter> writer_;
    std::unique_ptr<Iterator> input_;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Cached>(*this, place);
  }
  const std::string prefix_;
};

Ref<Dataset> MakeCache(DatasetArgs& args) {
  const std::string file = args.String("filename");
  if (!file.empty()) return MakeRef<FileCacheDataset>(args.dataset(), file);
  Ref<MemoryCache> cache;
  if (args.Has("cache")) {
    const Tensor& handle = args.tensor("cache");
    args.Require(handle.dtype() == DT_RESOURCE && handle.num_elements() == 1, "cache must be one handle");
    if (handle.data<ResourceHandle>()->resource) cache = args.Resource<MemoryCache>("cache");
  }
  return MakeRef<MemoryCacheDataset>(args.dataset(), cache ? cache : MakeRef<MemoryCache>());
}

void SetHandle(KernelContext& k, Ref<MemoryCache> cache) {
  static std::atomic<int64_t> next{0};
  *k.Output(0, Shape()).mutable_data<ResourceHandle>() = {k.device().name(),
                                                          "",
                                                          StrCat("AnonymousMemoryCache", next.fetch_add(1)),
                                                          "tensorflow::data::MemoryCacheManager",
                                                          {},
                                                          cache};
  if (k.num_outputs() == 2) k.Output(1, Shape());
}

struct Anonymous {
  void operator()(KernelContext& k) const { SetHandle(k, MakeRef<MemoryCache>()); }
};
struct Dummy {
  void operator()(KernelContext& k) const { SetHandle(k, nullptr); }
};
struct Delete {
  void operator()(KernelContext&) const {}
};

}  // namespace

void RegisterCacheDatasets(KernelRegistry& kernels) {
  AddDataset<MakeCache>(kernels, "CacheDataset");
  AddDataset<MakeCache>(kernels, "CacheDatasetV2");
  kernels.Add<Anonymous>("AnonymousMemoryCache");
  kernels.Add<Dummy>("DummyMemoryCache");
  kernels.Add<Delete>("DeleteMemoryCache");
}

}  // namespace penstock::data
