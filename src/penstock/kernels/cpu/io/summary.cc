// Summaries as tensors, and summaries that go straight to an event file.
#include "penstock/io/summary.h"

#include <atomic>
#include <mutex>

#include "penstock/data/stats.h"
#include "penstock/io/event_writer.h"
#include "penstock/io/files.h"
#include "penstock/kernel/anonymous.h"
#include "penstock/kernels/cpu/state/named_resource.h"

namespace penstock {
namespace {

const TString& Tag(KernelContext& k, int input, std::string_view what) {
  k.Require(k.shape(input).rank() == 0, what, " must be scalar, but has shape ", k.shape(input));
  return *k.input(input).data<TString>();
}

Tensor BadColor(const NodeView& node) {
  const Tensor color = node.attr<Tensor>("bad_color");
  if (color.dtype() != DT_UINT8) throw InvalidArgument("bad_color must be uint8, got ", color.dtype());
  if (color.rank() != 1) throw InvalidArgument("bad_color must be a vector, got shape ", color.shape());
  return color;
}

void Finish(KernelContext& k, const SummaryBuilder& summary) { k.SetOutput(0, Tensor(TString(summary.Serialize()))); }

struct ScalarSummary {
  void operator()(KernelContext& k) const {
    std::vector<std::string_view> tags;
    for (const TString& tag : k.in<TString>(0)) tags.push_back(tag.view());
    k.Require(k.shape(0) == k.shape(1), "tags and values not the same shape: ", k.shape(0), " != ", k.shape(1),
              tags.size() == 1 ? StrCat(" (tag '", tags[0], "')") : "");
    SummaryBuilder summary;
    summary.AddScalars(tags, k.input(1));
    Finish(k, summary);
  }
};

struct HistogramSummary {
  void operator()(KernelContext& k) const {
    SummaryBuilder summary;
    summary.AddHistogram(Tag(k, 0, "tags"), k.input(1), k.node().name());
    Finish(k, summary);
  }
};

struct ImageSummary {
  int64_t max_images;
  Tensor bad_color;
  explicit ImageSummary(const NodeView& node)
      : max_images(node.attr<int64_t>("max_images")), bad_color(BadColor(node)) {
    if (max_images >= int64_t{1} << 31) throw InvalidArgument("max_images must be < 2^31");
  }
  void operator()(KernelContext& k) const {
    SummaryBuilder summary;
    summary.AddImages(Tag(k, 0, "Tags"), k.input(1), max_images, bad_color);
    Finish(k, summary);
  }
};

struct AudioSummary {
  int64_t max_outputs;
  float sample_rate;  // 0: the third input
  explicit AudioSummary(const NodeView& node)
      : max_outputs(node.attr<int64_t>("max_outputs")), sample_rate(node.attr_or<float>("sample_rate", 0.0f)) {}
  void operator()(KernelContext& k) const {
    SummaryBuilder summary;
    const float rate = k.num_inputs() > 2 ? k.Scalar<float>(2) : sample_rate;
    summary.AddAudio(Tag(k, 0, "Tag"), k.input(1), rate, max_outputs);
    Finish(k, summary);
  }
};

struct TensorSummary {
  void operator()(KernelContext& k) const {
    SummaryBuilder summary;
    summary.AddNodeTensor(k.node().name(), k.input(0));
    Finish(k, summary);
  }
};

struct TensorSummaryV2 {
  void operator()(KernelContext& k) const {
    k.Require(k.input(0).rank() == 0, "tag must be scalar");
    SummaryBuilder summary;
    summary.AddTensor(Tag(k, 0, "tag"), k.input(1), Tag(k, 2, "serialized_summary_metadata"));
    Finish(k, summary);
  }
};

struct MergeSummary {
  void operator()(KernelContext& k) const {
    SummaryBuilder summary;
    for (int i = 0; i < k.num_inputs(); ++i) {
      for (const TString& part : k.in<TString>(i)) summary.Merge(part);
    }
    Finish(k, summary);
  }
};

// --- writers

// An event file, named in the device's resources. Events wait until there are more than `max_queue`, or the last flush
// was `flush_millis` ago when the next one comes, or they are flushed.
class SummaryFile : public Resource {
 public:
  ~SummaryFile() override {
    try {
      if (writer_) HandOver();
    } catch (const Error&) {  // there is nobody left to be told
    }
  }
  std::string DebugString() const override { return "event file"; }
  void Open(const std::string& directory, const std::string& suffix, int64_t max_queue, int64_t flush_millis) {
    std::lock_guard lock(mutex_);
    if (writer_) return;
    MakeDirectories(directory);
    auto writer = std::make_unique<EventWriter>(StrCat(directory, "/events"), suffix);
    writer->Open();
    writer_ = std::move(writer);
    max_queue_ = max_queue;
    flush_seconds_ = static_cast<double>(flush_millis) / 1000;
    last_ = WallTime();
  }
  void Write(const ResourceHandle& handle, std::string event) {
    std::lock_guard lock(mutex_);
    Require(handle);
    waiting_.push_back(std::move(event));
    if (static_cast<int64_t>(waiting_.size()) > max_queue_ || WallTime() - last_ > flush_seconds_) FlushLocked();
  }
  void Flush(const ResourceHandle& handle) {
    std::lock_guard lock(mutex_);
    Require(handle);
    FlushLocked();
  }
  void Close(const ResourceHandle& handle) {
    std::lock_guard lock(mutex_);
    Require(handle);
    HandOver();
    writer_->Close();
    writer_.reset();
  }

 private:
  void Require(const ResourceHandle& h) const {
    if (!writer_) throw NotFound("Resource ", h.container, "/", h.name, "/", h.type_name, " does not exist.");
  }
  void FlushLocked() {
    HandOver();
    writer_->Flush();
  }
  void HandOver() {
    for (const std::string& event : waiting_) writer_->Write(event);
    waiting_.clear();
    last_ = WallTime();
  }
  std::mutex mutex_;
  std::unique_ptr<EventWriter> writer_;  // null before it is opened and after it was closed
  std::vector<std::string> waiting_;
  int64_t max_queue_ = 0;
  double flush_seconds_ = 0, last_ = 0;
};

void WriteEvent(KernelContext& k, std::string event) { k.Lookup<SummaryFile>(0)->Write(k.handle(0), std::move(event)); }

struct SummaryWriter {
  // The name that eager execution gives to what nothing else can name: each run makes another writer.
  bool anonymous;
  explicit SummaryWriter(const NodeView& node) : anonymous(IsAnonymous(node)) {}
  void operator()(KernelContext& k) const {
    static std::atomic<int64_t> next{0};
    auto [container, name] = k.ResourceName();
    if (container.empty()) container = k.resources().default_container();
    if (anonymous) name = StrCat("AnonymousSummaryWriter", next.fetch_add(1));
    Tensor handle(DT_RESOURCE, Shape());
    *handle.mutable_data<ResourceHandle>() = {
        k.device().name(), container, name, "tensorflow::SummaryWriterInterface", {}, {}};
    k.SetOutput(0, handle);
  }
};

struct CreateFileWriter {
  void operator()(KernelContext& k) const {
    const std::string directory = Tag(k, 1, "logdir").str(), suffix = Tag(k, 4, "filename_suffix").str();
    const int64_t max_queue = k.Int(2), flush_millis = k.Int(3);
    const ResourceHandle& handle = k.Scalar<ResourceHandle>(0);
    k.resources()
        .FindOrMake<SummaryFile>(handle.container, handle.name, [] { return MakeRef<SummaryFile>(); })
        ->Open(directory, suffix, max_queue, flush_millis);
  }
};

struct FlushWriter {
  void operator()(KernelContext& k) const { k.Lookup<SummaryFile>(0)->Flush(k.handle(0)); }
};

struct CloseWriter {
  void operator()(KernelContext& k) const {
    const ResourceHandle& handle = k.handle(0);
    k.Lookup<SummaryFile>(0)->Close(handle);
    k.resources().Remove(handle.container, handle.name);
  }
};

int64_t Step(KernelContext& k) {
  k.Require(k.shape(1).num_elements() == 1 && k.shape(1).rank() <= 1, "step must be scalar, got shape ", k.shape(1));
  return *k.input(1).data<int64_t>();
}

void Write(KernelContext& k, const SummaryBuilder& summary) {
  WriteEvent(k, summary.SerializeEvent(WallTime(), Step(k)));
}

struct WriteSummary {
  void operator()(KernelContext& k) const {
    k.Require(k.input(0).rank() == 0, "tag must be scalar");
    const std::string_view metadata = Tag(k, 4, "summary_metadata");
    SummaryBuilder summary;
    summary.AddTensor(Tag(k, 3, "tag"), k.input(2), metadata.empty() ? std::nullopt : std::optional(metadata));
    Write(k, summary);
  }
};

struct WriteRawProto {
  void operator()(KernelContext& k) const {
    SummaryBuilder summary;
    for (const TString& part : k.in<TString>(2)) summary.Append(part);
    Write(k, summary);
  }
};

struct ImportEvent {
  void operator()(KernelContext& k) const { WriteEvent(k, CheckedEvent(Tag(k, 1, "event"))); }
};

struct WriteScalar {
  void operator()(KernelContext& k) const {
    k.Require(k.input(3).num_elements() == 1, "value must be scalar, got shape ", k.shape(3));
    SummaryBuilder summary;
    summary.AddScalars({Tag(k, 2, "tag").view()}, k.input(3));
    Write(k, summary);
  }
};

struct WriteHistogram {
  void operator()(KernelContext& k) const {
    SummaryBuilder summary;
    const TString& tag = Tag(k, 2, "tag");
    summary.AddHistogram(tag, k.input(3), tag);
    Write(k, summary);
  }
};

struct WriteImage {
  int64_t max_images;
  explicit WriteImage(const NodeView& node) : max_images(node.attr<int64_t>("max_images")) {
    if (max_images >= int64_t{1} << 31) throw InvalidArgument("max_images must be < 2^31");
  }
  void operator()(KernelContext& k) const {
    k.Require(k.shape(4).rank() == 1, "bad_color must be a vector, got shape ", k.shape(4));
    SummaryBuilder summary;
    summary.AddImages(Tag(k, 2, "tag"), k.input(3), max_images, k.input(4));
    Write(k, summary);
  }
};

struct WriteAudio {
  int64_t max_outputs;
  explicit WriteAudio(const NodeView& node) : max_outputs(node.attr<int64_t>("max_outputs")) {}
  void operator()(KernelContext& k) const {
    SummaryBuilder summary;
    summary.AddAudio(Tag(k, 2, "tag"), k.input(3), k.Scalar<float>(4), max_outputs);
    Write(k, summary);
  }
};

struct WriteGraph {
  void operator()(KernelContext& k) const {
    const TString& graph = Tag(k, 2, "tensor");
    WriteEvent(k, GraphEvent(WallTime(), Step(k), graph));
  }
};

// --- statistics of datasets
class StatsHandle : public NamedResourceKernel<data::StatsAggregator> {
 public:
  explicit StatsHandle(const NodeView& node) : NamedResourceKernel(node, "tensorflow::data::StatsAggregator") {}

 protected:
  Ref<data::StatsAggregator> Make(KernelContext&, const std::string&) const override {
    return MakeRef<data::StatsAggregator>();
  }
  void CheckSharing(KernelContext&, const data::StatsAggregator&) const override {}
};

struct StatsSummary {
  void operator()(KernelContext& k) const {
    k.SetOutput(0, Tensor(TString(k.Lookup<data::StatsAggregator>(0)->Summary())));
  }
};

struct SetStatsWriter {
  void operator()(KernelContext& k) const {
    k.Lookup<data::StatsAggregator>(0)->SetSink(
        [file = k.Lookup<SummaryFile>(1), handle = k.handle(1)](const SummaryBuilder& changed, int64_t step) {
          file->Write(handle, changed.SerializeEvent(WallTime(), step));
        });
  }
};

}  // namespace

void RegisterSummaryKernels(KernelRegistry& kernels) {
  for (const char* op : {"StatsAggregatorHandle", "StatsAggregatorHandleV2", "ExperimentalStatsAggregatorHandle"}) {
    kernels.Add<StatsHandle>(op);
  }
  for (const char* op : {"StatsAggregatorSummary", "ExperimentalStatsAggregatorSummary"}) kernels.Add<StatsSummary>(op);
  kernels.Add<SetStatsWriter>("StatsAggregatorSetSummaryWriter");
  kernels.Add<ScalarSummary>("ScalarSummary");
  kernels.Add<HistogramSummary>("HistogramSummary");
  kernels.Add<ImageSummary>("ImageSummary");
  kernels.Add<AudioSummary>("AudioSummary");
  kernels.Add<AudioSummary>("AudioSummaryV2");
  kernels.Add<TensorSummary>("TensorSummary");
  kernels.Add<TensorSummaryV2>("TensorSummaryV2");
  kernels.Add<MergeSummary>("MergeSummary");
  kernels.Add<SummaryWriter>("SummaryWriter");
  kernels.Add<CreateFileWriter>("CreateSummaryFileWriter");
  kernels.Add<FlushWriter>("FlushSummaryWriter");
  kernels.Add<CloseWriter>("CloseSummaryWriter");
  kernels.Add<WriteSummary>("WriteSummary");
  kernels.Add<WriteRawProto>("WriteRawProtoSummary");
  kernels.Add<ImportEvent>("ImportEvent");
  kernels.Add<WriteScalar>("WriteScalarSummary");
  kernels.Add<WriteHistogram>("WriteHistogramSummary");
  kernels.Add<WriteImage>("WriteImageSummary");
  kernels.Add<WriteAudio>("WriteAudioSummary");
  kernels.Add<WriteGraph>("WriteGraphSummary");
}

}  // namespace penstock
