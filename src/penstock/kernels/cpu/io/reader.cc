// Readers: records of the files whose names a queue holds.
#include <deque>

#include "penstock/io/record_stream.h"
#include "penstock/io/table.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/data_flow/queue.h"
#include "penstock/kernels/cpu/state/named_resource.h"

namespace penstock {
namespace {

// Splits one unit of work (the name of a file) into records.
class RecordSource {
 public:
  virtual ~RecordSource() = default;
  virtual void Begin(const std::string& work) = 0;
  virtual bool Next(std::string* key, std::string* value) = 0;  // false at the end of the work
  virtual bool one_record() const { return false; }             // the work is done with its first record
};

class IdentitySource : public RecordSource {
 public:
  void Begin(const std::string& work) override {
    work_ = work;
    given_ = false;
  }
  bool Next(std::string* key, std::string* value) override {
    *key = *value = work_;
    return !std::exchange(given_, true);
  }

  bool one_record() const override { return true; }

 private:
  std::string work_;
  bool given_ = true;
};

class WholeFileSource : public RecordSource {
 public:
  void Begin(const std::string& work) override {
    work_ = work;
    given_ = false;
  }
  bool Next(std::string* key, std::string* value) override {
    if (std::exchange(given_, true)) return false;
    *key = work_;
    *value = ReadWholeFile(work_);
    return true;
  }

  bool one_record() const override { return true; }

 private:
  std::string work_;
  bool given_ = true;
};

class TextLineSource : public RecordSource {
 public:
  explicit TextLineSource(int64_t skip) : skip_(skip) {}
  void Begin(const std::string& work) override {
    work_ = work;
    line_ = 0;
    stream_ = std::make_unique<BufferedStream>(ByteStream::OpenFile(work, Compression::kNone));
    std::string skipped;
    for (; line_ < skip_ && stream_->ReadLine(&skipped); ++line_) {
    }
  }
  bool Next(std::string* key, std::string* value) override {
    if (!stream_->ReadLine(value)) return false;
    *key = StrCat(work_, ":", ++line_);
    return true;
  }

 private:
  const int64_t skip_;
  std::string work_;
  int64_t line_ = 0;
  std::unique_ptr<BufferedStream> stream_;
};

class FixedLengthSource : public RecordSource {
 public:
  explicit FixedLengthSource(const NodeView& node)
      : header_(Bytes(node, "header_bytes")),
        record_(Bytes(node, "record_bytes")),
        footer_(Bytes(node, "footer_bytes")),
        hop_(Bytes(node, "hop_bytes") == 0 ? record_ : Bytes(node, "hop_bytes")) {
    const std::string encoding = node.attr_or<std::string>("encoding", "");
    compression_ = CompressionFromName(encoding);
    if (record_ <= 0) throw InvalidArgument("record_bytes must be > 0 not ", record_);
  }
  void Begin(const std::string& work) override {
    work_ = work;
    number_ = 0;
    ahead_.clear();
    stream_ = std::make_unique<BufferedStream>(ByteStream::OpenFile(work, compression_));
    ended_ = false;
    if (!stream_->Skip(header_)) throw OutOfRange("reached end of file");
  }
  bool Next(std::string* key, std::string* value) override {
    if (ended_) return false;
    if (number_ > 0) {
      const size_t held = std::min<size_t>(hop_, ahead_.size());
      ahead_.erase(0, held);
      ended_ = !stream_->Skip(hop_ - held);
    }
    // What follows a record decides whether it is one, or part of the footer.
    std::string more;
    ended_ = ended_ || !stream_->Read(record_ + footer_ - ahead_.size(), &more);
    if (ended_) return false;
    ahead_ += more;
    *value = ahead_.substr(0, record_);
    *key = StrCat(work_, ":", number_++);
    return true;
  }

 private:
  static int64_t Bytes(const NodeView& node, const char* name) {
    const int64_t n = node.attr<int64_t>(name);
    if (n < 0) throw InvalidArgument(name, " must be >= 0 not ", n);
    if (n > int64_t{1} << 40) throw InvalidArgument(name, " is too large: ", n);
    return n;
  }
  const int64_t header_, record_, footer_, hop_;
  Compression compression_;
  std::string work_, ahead_;
  int64_t number_ = 0;
  bool ended_ = true;
  std::unique_ptr<BufferedStream> stream_;
};

class RecordFileSource : public RecordSource {
 public:
  explicit RecordFileSource(Compression compression) : compression_(compression) {}
  void Begin(const std::string& work) override {
    work_ = work;
    stream_ = std::make_unique<RecordStream>(work, compression_);
  }
  bool Next(std::string* key, std::string* value) override {
    uint64_t offset = 0;
    if (!stream_->Next(value, &offset)) return false;
    *key = StrCat(work_, ":", offset);
    return true;
  }

 private:
  const Compression compression_;
  std::string work_;
  std::unique_ptr<RecordStream> stream_;
};

std::unique_ptr<RecordSource> MakeSource(const NodeView& node) {
  const std::string& op = node.op().name;
  if (op.starts_with("Identity")) return std::make_unique<IdentitySource>();
  if (op.starts_with("WholeFile")) return std::make_unique<WholeFileSource>();
  if (op.starts_with("TextLine")) return std::make_unique<TextLineSource>(node.attr<int64_t>("skip_header_lines"));
  if (op.starts_with("FixedLength")) return std::make_unique<FixedLengthSource>(node);
  return std::make_unique<RecordFileSource>(CompressionFromName(node.attr<std::string>("compression_type")));
}

// The fields of TensorFlow's ReaderBaseState message: three counts and the current work.
struct ReaderState {
  int64_t started = 0, finished = 0, records = 0;
  std::string work;

  std::string Encoded() const {
    std::string text;
    const auto varint = [&](uint64_t v) { AppendVarint(&text, v); };
    int field = 0;
    for (const int64_t count : {started, finished, records}) {
      ++field;
      if (count == 0) continue;
      varint(field << 3);
      varint(count);
    }
    if (!work.empty()) {
      varint(4 << 3 | 2);
      varint(work.size());
      text += work;
    }
    return text;
  }

  static bool Decode(std::string_view text, ReaderState* state) {
    const auto varint = [&](uint64_t* v) {
      *v = 0;
      for (int shift = 0; shift < 64; shift += 7) {
        if (text.empty()) return false;
        const uint8_t byte = text[0];
        text.remove_prefix(1);
        *v |= static_cast<uint64_t>(byte & 0x7F) << shift;
        if (byte < 0x80) return true;
      }
      return false;
    };
    while (!text.empty()) {
      uint64_t tag, value;
      if (!varint(&tag) || !varint(&value)) return false;
      if (tag == (4 << 3 | 2)) {
        if (value > text.size()) return false;
        state->work = text.substr(0, value);
        text.remove_prefix(value);
      } else if (tag == 1 << 3 || tag == 2 << 3 || tag == 3 << 3) {
        (tag == 1 << 3   ? state->started
         : tag == 2 << 3 ? state->finished
                         : state->records) = static_cast<int64_t>(value);
      } else {
        return false;
      }
    }
    return true;
  }
};

class Reader : public Resource {
 public:
  struct Records {
    std::vector<TString> keys, values;
  };
  using Done = std::function<void(Status, Records)>;
  Reader(std::string kind, std::string name, std::unique_ptr<RecordSource> source)
      : kind_(std::move(kind)), name_(std::move(name)), source_(std::move(source)) {}
  const std::string& kind() const { return kind_; }
  std::string DebugString() const override { return StrCat(kind_, " '", name_, "'"); }

  // Up to n records of one unit of work, at least one. Requests are served one after the other.
  void Read(int64_t n, Ref<Queue> queue, const Ref<CancellationManager>& cancellation, Done done) {
    {
      std::lock_guard lock(mutex_);
      requests_.push_back({n, std::move(queue), cancellation, std::move(done), {}});
      if (std::exchange(busy_, true)) return;
    }
    Serve();
  }
  ReaderState State() const {
    std::lock_guard lock(mutex_);
    return state_;
  }
  void Restore(const ReaderState& state) {
    if (state.started < 0 || state.finished < 0 || state.records < 0 || state.started < state.finished ||
        state.started > state.finished + 1) {
      throw InvalidArgument("Inconsistent work started vs. finished when restoring in ", name_, ": ", state.started,
                            " vs. ", state.finished);
    }
    std::lock_guard lock(mutex_);
    RequireIdle();
    state_ = state;
    if (state.started > state.finished) source_->Begin(state.work);
  }
  void Reset() {
    std::lock_guard lock(mutex_);
    RequireIdle();
    state_ = {};
  }

 private:
  struct Request {
    int64_t wanted;
    Ref<Queue> queue;
    Ref<CancellationManager> cancellation;
    Done done;
    Records records;
  };

  void RequireIdle() const {
    if (busy_) throw Unavailable("Reader '", name_, "' is being read from");
  }

  // Serves requests until one has to wait for its queue, or none is left. Only one thread is in here: who found the
  // reader idle, or the queue's callback.
  void Serve() {
    for (;;) {
      bool need_work = false;
      Status status;
      {
        std::lock_guard lock(mutex_);
        try {
          need_work = !Advance(requests_.front());
        } catch (...) {
          status = CurrentStatus();
        }
      }
      if (need_work) {
        if (!NextWork(&status)) return;
        if (status.ok()) continue;
      }
      if (!Finish(std::move(status))) return;
    }
  }

  // Adds records to a request: false if it needs further work first.
  bool Advance(Request& request) {
    while (state_.started > state_.finished) {
      std::string key, value;
      while (static_cast<int64_t>(request.records.keys.size()) < request.wanted) {
        bool more = false;
        try {
          more = source_->Next(&key, &value);
        } catch (...) {
          state_.finished = state_.started;
          throw;
        }
        if (!more) {
          state_.finished = state_.started;
          break;
        }
        ++state_.records;
        request.records.keys.emplace_back(key);
        request.records.values.emplace_back(value);
        if (source_->one_record()) {
          state_.finished = state_.started;
          break;
        }
      }
      if (!request.records.keys.empty()) return true;
    }
    return false;
  }

  // Takes work from the queue. True: at once, with this status. False: its callback goes on.
  bool NextWork(Status* status) {
    struct Wait {
      std::mutex mutex;
      bool called = false, returned = false;
      Status status;
    };
    auto wait = std::make_shared<Wait>();
    const auto callback = [self = ShareRef(this), wait](Status result, Queue::Tuple tuple) {
      result = self->Begin(std::move(result), tuple);
      {
        std::lock_guard lock(wait->mutex);
        wait->called = true;
        wait->status = result;
        if (!wait->returned) return;
      }
      if (result.ok() || self->Finish(std::move(result))) self->Serve();
    };
    Ref<Queue> queue;
    Ref<CancellationManager> cancellation;
    {
      std::lock_guard lock(mutex_);
      queue = requests_.front().queue;
      cancellation = requests_.front().cancellation;
    }
    queue->Dequeue(cancellation, callback);
    std::lock_guard lock(wait->mutex);
    wait->returned = true;
    *status = wait->status;
    return wait->called;
  }

  Status Begin(Status dequeued, const Queue::Tuple& tuple) {
    std::lock_guard lock(mutex_);
    if (!dequeued.ok()) {
      state_.work.clear();
      return dequeued;
    }
    try {
      if (tuple.size() != 1) throw InvalidArgument("Expected single component queue");
      if (tuple[0].dtype() != DT_STRING) throw InvalidArgument("Expected queue with single string component");
      if (tuple[0].num_elements() != 1) throw InvalidArgument("Expected to dequeue a one-element string tensor");
      const std::string work = tuple[0].data<TString>()[0].str();
      source_->Begin(work);
      ++state_.started;
      state_.work = work;
      return {};
    } catch (...) {
      return CurrentStatus();
    }
  }

  // Answers the first request; true if there is another.
  bool Finish(Status status) {
    Request request;
    bool more;
    {
      std::lock_guard lock(mutex_);
      request = std::move(requests_.front());
      requests_.pop_front();
      more = busy_ = !requests_.empty();
    }
    request.done(std::move(status), std::move(request.records));
    return more;
  }

  const std::string kind_, name_;
  const std::unique_ptr<RecordSource> source_;
  mutable std::mutex mutex_;
  bool busy_ = false;
  std::deque<Request> requests_;
  ReaderState state_;
};

class ReaderKernel : public NamedResourceKernel<Reader> {
 public:
  explicit ReaderKernel(const NodeView& node)
      : NamedResourceKernel(node, "tensorflow::ReaderInterface"), kind_(Plain(node.op().name)) {
    MakeSource(node);  // attributes that do not fit are an error of the node
  }

 protected:
  Ref<Reader> Make(KernelContext& k, const std::string& name) const override {
    return MakeRef<Reader>(kind_, name, MakeSource(k.node()));
  }
  void CheckSharing(KernelContext& k, const Reader& reader) const override {
    k.Require(reader.kind() == kind_, "Shared reader '", k.ResourceName().second, "' is a ", reader.kind(), ", not a ",
              kind_);
  }

 private:
  static std::string Plain(std::string kind) {
    if (kind.ends_with("V2")) kind.resize(kind.size() - 2);
    return kind;
  }
  const std::string kind_;
};

Ref<Reader> ReaderOf(KernelContext& k) { return NamedResource<Reader>(k, 0); }

template <bool kUpTo>
class Read : public AsyncKernel {
 public:
  void RunAsync(KernelContext& k, Done done) override {
    int64_t n = 1;
    if (kUpTo) {
      n = k.Int(2);
      k.Require(n >= 0, "num_records must not be negative, but is ", n);
      if (n == 0) {  // the queue is left alone
        for (int i = 0; i < 2; ++i) k.Output(i, Shape({0}));
        return done({});
      }
    }
    ReaderOf(k)->Read(n, NamedResource<Queue>(k, 1), k.step().cancellation,
                      [&k, done = std::move(done)](Status status, Reader::Records records) {
                        if (status.ok()) {
                          k.SetOutput(0, kUpTo ? Tensor::Vector<TString>(records.keys) : Tensor(records.keys[0]));
                          k.SetOutput(1, kUpTo ? Tensor::Vector<TString>(records.values) : Tensor(records.values[0]));
                        }
                        done(std::move(status));
                      });
  }
};

struct NumRecords {
  void operator()(KernelContext& k) const { k.SetOutput(0, Tensor(ReaderOf(k)->State().records)); }
};
struct NumWorkUnits {
  void operator()(KernelContext& k) const { k.SetOutput(0, Tensor(ReaderOf(k)->State().finished)); }
};
struct Serialize {
  void operator()(KernelContext& k) const {
    const Ref<Reader> reader = ReaderOf(k);
    CheckKind(*reader);
    k.SetOutput(0, Tensor(TString(reader->State().Encoded())));
  }
  // Of the others, what lies between two records would have to be kept too.
  static void CheckKind(const Reader& reader) {
    if (!reader.kind().starts_with("Identity") && !reader.kind().starts_with("WholeFile")) {
      throw Unimplemented("Reader SerializeState");
    }
  }
};
// A reader that cannot be restored begins anew.
struct Restore {
  void operator()(KernelContext& k) const {
    const Ref<Reader> reader = ReaderOf(k);
    k.Require(k.shape(1).rank() == 0, "Reader state must be scalar, but had shape: ", k.shape(1));
    try {
      RestoreFrom(k, *reader);
    } catch (...) {
      reader->Reset();
      throw;
    }
  }

 private:
  static void RestoreFrom(KernelContext& k, Reader& reader) {
    if (!reader.kind().starts_with("Identity") && !reader.kind().starts_with("WholeFile")) {
      throw Unimplemented("Reader RestoreState");
    }
    ReaderState state;
    k.Require(ReaderState::Decode(k.Scalar<TString>(1).view(), &state), "Could not parse state for ",
              reader.DebugString(), ": ", k.Scalar<TString>(1).view());
    reader.Restore(state);
  }
};
struct Reset {
  void operator()(KernelContext& k) const { ReaderOf(k)->Reset(); }
};

}  // namespace

void RegisterReaderKernels(KernelRegistry& kernels) {
  for (const char* version : {"", "V2"}) {
    for (const char* kind : {"WholeFile", "TextLine", "FixedLengthRecord", "TFRecord", "Identity"}) {
      kernels.Add<ReaderKernel>(StrCat(kind, "Reader", version));
    }
    const auto name = [&](const char* op) { return StrCat("Reader", op, version); };
    kernels.Add<Read<false>>(name("Read"));
    kernels.Add<Read<true>>(name("ReadUpTo")).HostInput(2);
    kernels.Add<NumRecords>(name("NumRecordsProduced"));
    kernels.Add<NumWorkUnits>(name("NumWorkUnitsCompleted"));
    kernels.Add<Serialize>(name("SerializeState"));
    kernels.Add<Restore>(name("RestoreState"));
    kernels.Add<Reset>(name("Reset"));
  }
}

}  // namespace penstock
