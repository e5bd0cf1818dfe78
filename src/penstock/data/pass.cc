// Datasets that give the elements of their input as they are: options, checks, rests.
#include <iostream>
#include <set>
#include <thread>

#include "penstock/base/alarms.h"
#include "penstock/data/rewrites.h"
#include "penstock/data/thread_pool.h"

namespace penstock::data {
namespace {

// The elements of the input and nothing else, with options of its own.
class PassDataset final : public Dataset {
 public:
  PassDataset(std::string name, Ref<const Dataset> input, const Options& options)
      : Dataset(std::move(name), input->spec(), {input}), options_(options) {}
  int64_t Cardinality() const override { return input().Cardinality(); }
  Options options() const override {
    Options all = options_;
    all.Override(input().options());
    return all;
  }
  void RequireShuffleable() const override { input().RequireShuffleable(); }

 private:
  // The place is that of the dataset around: this one has no iterator.
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override { return input().Begin(Around(place)); }
  Accessor MakeAccessor(const Place& place) const override { return input().Access(Around(place)); }
  static Place Around(const Place& place) { return {place.context, place.prefix.substr(0, place.prefix.rfind("::"))}; }
  const Options options_;
};

class AssertCardinalityDataset final : public Dataset {
 public:
  AssertCardinalityDataset(Ref<const Dataset> input, int64_t expected)
      : Dataset("AssertCardinality", input->spec(), {input}), expected_(expected) {}
  int64_t Cardinality() const override { return expected_; }
  void RequireShuffleable() const override { input().RequireShuffleable(); }

 private:
  class Counted final : public IteratorOverInput<AssertCardinalityDataset> {
   public:
    using IteratorOverInput::IteratorOverInput;
    bool Next(Element* element) override {
      const int64_t expected = dataset().expected_;
      const bool there = input_->Next(element);
      if (there) ++seen_;
      if (!there && seen_ != expected) {
        throw FailedPrecondition("Input dataset was expected to contain ", Elements(expected), " but contained only ",
                                 Elements(seen_), ".");
      }
      if (there && expected != kInfinite && seen_ > expected) {
        throw FailedPrecondition("Input dataset was expected to contain ", Elements(expected),
                                 " but contained at least ", Elements(seen_), ".");
      }
      return there;
    }
    void Visit(State& state) override {
      IteratorOverInput::Visit(state);
      state.Value("seen", &seen_);
    }

   private:
    int64_t seen_ = 0;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Counted>(*this, place);
  }
  Accessor MakeAccessor(const Place& place) const override {
    return [input = input().Access(place), n = input().Cardinality(), this](int64_t index) {
      if (index >= n && n >= 0) {
        throw FailedPrecondition("Input dataset was expected to contain ", Elements(expected_), " but contained only ",
                                 Elements(n), ".");
      }
      return input(index);
    };
  }
  static std::string Elements(int64_t n) {
    return n == kInfinite ? "an infinite number of elements" : StrCat(n, n == 1 ? " element" : " elements");
  }
  const int64_t expected_;
};

class IgnoreErrorsDataset final : public Dataset {
 public:
  IgnoreErrorsDataset(Ref<const Dataset> input, bool logs)
      : Dataset("IgnoreErrors", input->spec(), {input}), logs_(logs) {}

 private:
  class Good final : public IteratorOverInput<IgnoreErrorsDataset> {
   public:
    using IteratorOverInput::IteratorOverInput;
    bool Next(Element* element) override {
      for (;;) {
        try {
          return input_->Next(element);
        } catch (const Error& error) {
          if (error.code() == Code::kCancelled) throw;
          context().ThrowIfStopped();
          if (dataset().logs_) {
            std::cerr << StrCat("Error raised with error message ", error.status().message(), "\n");
          }
        }
      }
    }
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Good>(*this, place);
  }
  const bool logs_;
};

// Sleeps; throws Cancelled as soon as the iteration is stopped.
void SleepFor(IteratorContext& context, int64_t micros) {
  std::mutex mutex;
  std::condition_variable stopped;
  const auto wake = [&] {
    std::lock_guard lock(mutex);
    stopped.notify_all();
  };
  context.ThrowIfStopped();
  CancellationManager::Token token = 0;
  if (!context.cancellation->Register(wake, &token)) return context.ThrowIfStopped();
  {
    const Alarm interrupt = Alarm::OnInterrupt(wake);
    std::unique_lock lock(mutex);
    stopped.wait_for(lock, std::chrono::microseconds(micros), [&] { return context.stopped(); });
  }
  context.cancellation->Deregister(token);
  context.ThrowIfStopped();
}

class SleepDataset final : public Dataset {
 public:
  SleepDataset(Ref<const Dataset> input, int64_t micros) : Dataset("Sleep", input->spec(), {input}), micros_(micros) {}
  int64_t Cardinality() const override { return input().Cardinality(); }

 private:
  class Slow final : public IteratorOverInput<SleepDataset> {
   public:
    using IteratorOverInput::IteratorOverInput;
    bool Next(Element* element) override {
      SleepFor(context(), dataset().micros_);
      return input_->Next(element);
    }
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<Slow>(*this, place);
  }
  const int64_t micros_;
};

class UniqueDataset final : public Dataset {
 public:
  explicit UniqueDataset(Ref<const Dataset> input) : Dataset("Unique", input->spec(), {input}) {}

 private:
  class First final : public IteratorOverInput<UniqueDataset> {
   public:
    using IteratorOverInput::IteratorOverInput;
    bool Next(Element* element) override {
      while (input_->Next(element)) {
        RequireComponents(*element, 1);
        if (seen_.insert(BytesOf((*element)[0])).second) return true;
      }
      return false;
    }
    void Visit(State& state) override {
      IteratorOverInput::Visit(state);
      std::vector<std::string> all(seen_.begin(), seen_.end());
      state.Values("seen", &all);
      if (state.restores()) seen_ = {all.begin(), all.end()};
    }

   private:
    static std::string BytesOf(const Tensor& t) {
      std::string bytes = t.shape().ToString();
      if (t.dtype() != DT_STRING) return bytes.append(static_cast<const char*>(t.raw()), t.bytes());
      for (const TString& s : t.flat<TString>()) bytes += StrCat(s.view().size(), ":", s.view());
      return bytes;
    }
    std::set<std::string> seen_;
  };
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override {
    return std::make_unique<First>(*this, place);
  }
};

Ref<Dataset> Pass(DatasetArgs& args, std::string name, const Options& options = {}) {
  return MakeRef<PassDataset>(std::move(name), args.dataset(), options);
}

// Calls `see(field, number, bytes)` with each field of a message on the wire: numbers, or messages and strings.
template <class See>
void ForEachField(std::string_view message, See see) {
  const auto varint = [&](size_t* at) {
    uint64_t value = 0;
    for (int shift = 0; *at < message.size() && shift < 64; shift += 7) {
      const uint8_t byte = static_cast<uint8_t>(message[(*at)++]);
      value |= uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) break;
    }
    return value;
  };
  for (size_t at = 0; at < message.size();) {
    const uint64_t tag = varint(&at), value = varint(&at);
    const int64_t field = static_cast<int64_t>(tag >> 3);
    if ((tag & 7) == 0) {
      see(field, static_cast<int64_t>(value), std::string_view());
    } else if ((tag & 7) == 2 && value <= message.size() - at) {
      see(field, 0, message.substr(at, value));
      at += value;
    } else {
      throw InvalidArgument("Could not parse serialized_options");
    }
  }
}

// What changes an iterator of a message tensorflow.data.Options: the numbers are those of its fields.
Options OptionsFrom(std::string_view message) {
  Options options;
  ForEachField(message, [&](int64_t field, int64_t value, std::string_view part) {
    if (field == 1) options.deterministic = value != 0;
    if (field == 9) options.warm_start = value != 0;
    if (field == 7) {
      ForEachField(part, [&](int64_t of_autotune, int64_t number, std::string_view) {
        if (of_autotune == 1) options.autotune = number != 0;
        if (of_autotune == 2) options.cpu_budget = number;
        if (of_autotune == 3) options.ram_budget = number;
        if (of_autotune == 5) options.initial_parallelism = number;
        if (of_autotune == 6) options.min_parallelism = number;
      });
    }
    if (field == 5) {
      ForEachField(part, [&](int64_t of_threading, int64_t number, std::string_view) {
        if (of_threading == 2) options.most_threads = number;
      });
    }
  });
  return options;
}

Ref<Dataset> MakeOptions(DatasetArgs& args) {
  return Pass(args, "Options", OptionsFrom(args.attr<std::string>("serialized_options")));
}
Ref<Dataset> MakeModel(DatasetArgs& args) {
  Options options;
  options.cpu_budget = args.attr<int64_t>("cpu_budget");
  options.ram_budget = args.attr<int64_t>("ram_budget");
  return Pass(args, "Model", options);
}

Ref<Dataset> PassOn(std::string name, Ref<const Dataset> rewritten, const Options& options = {}) {
  return MakeRef<PassDataset>(std::move(name), std::move(rewritten), options);
}

Ref<Dataset> MakeOptimize(DatasetArgs& args) {
  std::set<std::string> names;
  const auto add = [&](std::string_view input) {
    if (!args.Has(input)) return;
    for (std::string& name : args.Strings(input)) names.insert(std::move(name));
  };
  add("optimizations_default");
  if (args.Has("optimizations_disabled")) {
    for (const std::string& name : args.Strings("optimizations_disabled")) names.erase(name);
  }
  add("optimizations_enabled");
  add("optimizations");
  // "REWRITE:OPTION:true" comes as one more name, "REWRITE:OPTION".
  for (const std::string& config : args.attr<std::vector<std::string>>("optimization_configs")) {
    constexpr std::string_view kYes = ":true";
    if (config.ends_with(kYes)) names.insert(config.substr(0, config.size() - kYes.size()));
  }
  Options options;
  if (names.contains("make_sloppy")) options.deterministic = false;
  return PassOn("Optimize", Rewrite(args.kernel(), args.dataset(), names), options);
}

Ref<Dataset> MakeRewrite(DatasetArgs& args) {
  return PassOn("Rewrite", Rewrite(args.kernel(), args.dataset(), {args.String("rewrite_name")}));
}

Ref<Dataset> MakeAutoShard(DatasetArgs& args) {
  const int64_t workers = args.Int("num_workers"), index = args.Int("index");
  args.Require(workers > 0, "num_workers must be greater than zero.");
  args.Require(index >= 0 && index < workers, "index must be between 0 and ", workers - 1);
  return PassOn("AutoShard",
                AutoShard(args.kernel(), args.dataset(), workers, index, args.attr<int64_t>("auto_shard_policy")));
}

Ref<Dataset> MakePlain(DatasetArgs& args) { return Pass(args, "Pass"); }

Ref<Dataset> MakePrivateThreadPool(DatasetArgs& args) {
  Options options;
  options.most_threads = args.Int("num_threads");
  args.Require(options.most_threads >= 0, "`num_threads` must be greater or equal to 0");
  return Pass(args, "Pass", options);
}
Ref<Dataset> MakeThreadPool(DatasetArgs& args) {
  Options options;
  options.most_threads = args.Resource<ThreadPoolSize>("thread_pool")->threads();
  return Pass(args, "Pass", options);
}

Ref<Dataset> MakeAssertCardinality(DatasetArgs& args) {
  return MakeRef<AssertCardinalityDataset>(args.dataset(), args.Int("cardinality"));
}
Ref<Dataset> MakeIgnoreErrors(DatasetArgs& args) {
  return MakeRef<IgnoreErrorsDataset>(args.dataset(), args.attr<bool>("log_warning"));
}
Ref<Dataset> MakeSleep(DatasetArgs& args) {
  return MakeRef<SleepDataset>(args.dataset(), args.Int("sleep_microseconds"));
}

Ref<Dataset> MakeUnique(DatasetArgs& args) {
  const Ref<const Dataset> input = args.dataset();
  args.Require(input->types().size() == 1, "UniqueDataset only supports inputs with a single component.");
  const DataType type = input->types()[0];
  args.Require(type == DT_INT32 || type == DT_INT64 || type == DT_STRING,
               "UniqueDataset only supports inputs with a single `tf.int32`, `tf.int64`, or `tf.string` component.");
  return MakeRef<UniqueDataset>(input);
}

}  // namespace

void RegisterPassDatasets(KernelRegistry& kernels) {
  AddDataset<MakeOptions>(kernels, "OptionsDataset");
  AddDataset<MakeModel>(kernels, "ModelDataset");
  for (const char* op : {"OptimizeDataset", "OptimizeDatasetV2"}) AddDataset<MakeOptimize>(kernels, op);
  AddDataset<MakeRewrite>(kernels, "RewriteDataset");
  AddDatasetAndTwin<MakeAutoShard>(kernels, "AutoShardDataset");
  // What they ask for has no bearing here.
  AddDataset<MakePlain>(kernels, "FinalizeDataset");
  for (const char* op : {"NonSerializableDataset", "MaxIntraOpParallelismDataset"}) {
    AddDatasetAndTwin<MakePlain>(kernels, op);
  }
  AddDatasetAndTwin<MakePrivateThreadPool>(kernels, "PrivateThreadPoolDataset");
  AddDatasetAndTwin<MakeThreadPool>(kernels, "ThreadPoolDataset");
  AddDataset<MakeAssertCardinality>(kernels, "AssertCardinalityDataset");
  AddDatasetAndTwin<MakeIgnoreErrors>(kernels, "IgnoreErrorsDataset");
  AddDatasetAndTwin<MakeSleep>(kernels, "SleepDataset");
  AddDatasetAndTwin<MakeUnique>(kernels, "UniqueDataset");
}

}  // namespace penstock::data
