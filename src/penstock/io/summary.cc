#include "penstock/io/summary.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <set>
#include <span>
#include <vector>

#include "penstock/io/messages.h"
#include "penstock/io/png.h"
#include "penstock/io/wav.h"
#include "tensorflow/core/framework/summary.pb.h"
#include "tensorflow/core/util/event.pb.h"

namespace penstock {
namespace {

// Upper limits of the buckets: 1e-12, growing by a tenth up to 1e20, the same below zero, and zero.
const std::vector<double>& BucketLimits() {
  static const std::vector<double> limits = [] {
    std::vector<double> positive;
    for (double v = 1e-12; v < 1e20; v *= 1.1) positive.push_back(v);
    positive.push_back(DBL_MAX);
    std::vector<double> all;
    for (auto v = positive.rbegin(); v != positive.rend(); ++v) all.push_back(-*v);
    all.push_back(0.0);
    all.insert(all.end(), positive.begin(), positive.end());
    return all;
  }();
  return limits;
}

// Runs of empty buckets become one.
void FillBuckets(const std::vector<double>& counts, tensorflow::HistogramProto* proto) {
  const std::vector<double>& limits = BucketLimits();
  for (size_t i = 0; i < counts.size();) {
    double limit = limits[i], count = counts[i++];
    if (count <= 0) {
      while (i < counts.size() && counts[i] <= 0) limit = limits[i++];
    }
    proto->add_bucket_limit(limit);
    proto->add_bucket(count);
  }
}

// visit(value) for each element of a tensor of numbers.
template <class F>
void VisitNumbers(const Tensor& t, F visit) {
  const auto all = [&](auto example) {
    for (const auto v : t.flat<decltype(example)>()) visit(static_cast<double>(v));
  };
  switch (t.dtype()) {  // NOLINT(bugprone-branch-clone): each is of another type
    case DT_FLOAT: return all(float());
    case DT_DOUBLE: return all(double());
    case DT_HALF: return all(Half());
    case DT_BFLOAT16: return all(BFloat16());
    case DT_INT8: return all(int8_t());
    case DT_INT16: return all(int16_t());
    case DT_INT32: return all(int32_t());
    case DT_INT64: return all(int64_t());
    case DT_UINT8: return all(uint8_t());
    case DT_UINT16: return all(uint16_t());
    case DT_UINT32: return all(uint32_t());
    case DT_UINT64: return all(uint64_t());
    case DT_BOOL: return all(bool());
    default: throw InvalidArgument("summaries of numbers cannot hold values of type ", t.dtype());
  }
}

bool AllFinite(const float* pixel, int64_t channels) {
  return std::all_of(pixel, pixel + channels, [](float v) { return std::isfinite(v); });
}

// Values around zero are centred on 128; others reach from 0 to 255.
std::vector<uint8_t> ImageOfFloats(std::span<const float> values, int64_t channels,
                                   std::span<const uint8_t> bad_color) {
  float low = std::numeric_limits<float>::infinity(), high = -low;
  for (size_t i = 0; i < values.size(); i += channels) {
    if (!AllFinite(&values[i], channels)) continue;
    const auto [least, most] = std::minmax_element(&values[i], &values[i] + channels);
    low = std::min(low, *least);
    high = std::max(high, *most);
  }
  constexpr float kZero = 1e-6f;
  float scale, offset;
  if (low < 0) {
    const float most = std::max(std::abs(low), std::abs(high));
    scale = most < kZero ? 0.0f : 127.0f / most;
    offset = 128.0f;
  } else {
    scale = high < kZero ? 0.0f : 255.0f / high;
    offset = 0.0f;
  }
  std::vector<uint8_t> pixels(values.size());
  for (size_t i = 0; i < values.size(); i += channels) {
    if (AllFinite(&values[i], channels)) {
      for (int64_t c = 0; c < channels; ++c) {
        pixels[i + c] = static_cast<uint8_t>(std::clamp(values[i + c] * scale + offset, 0.0f, 255.0f));
      }
    } else {
      std::copy_n(bad_color.begin(), channels, pixels.begin() + i);
    }
  }
  return pixels;
}

bool Parses(std::string_view bytes, google::protobuf::Message* message) {
  return bytes.size() <= INT_MAX && message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

}  // namespace

struct SummaryBuilder::Impl {
  tensorflow::Summary summary;
  std::set<std::string, std::less<>> tags;
  tensorflow::Summary::Value* Add(std::string_view tag) {
    auto* value = summary.add_value();
    value->set_tag(std::string(tag));
    return value;
  }
};

SummaryBuilder::SummaryBuilder() : impl_(std::make_unique<Impl>()) {}
SummaryBuilder::~SummaryBuilder() = default;

void SummaryBuilder::AddScalars(const std::vector<std::string_view>& tags, const Tensor& values) {
  size_t i = 0;
  VisitNumbers(values, [&](double v) { impl_->Add(tags[i++])->set_simple_value(static_cast<float>(v)); });
}

Histogram::Histogram() : counts_(BucketLimits().size(), 0.0), low_(DBL_MAX), high_(-DBL_MAX) {}

void Histogram::Add(double value) {
  const std::vector<double>& limits = BucketLimits();
  const auto bucket = std::upper_bound(limits.begin(), limits.end(), value) - limits.begin();
  counts_[std::min<size_t>(bucket, counts_.size() - 1)] += 1;
  low_ = std::min(low_, value);
  high_ = std::max(high_, value);
  number_ += 1;
  sum_ += value;
  squares_ += value * value;
}

void SummaryBuilder::AddHistogram(std::string_view tag, const Histogram& histogram) {
  tensorflow::HistogramProto* proto = impl_->Add(tag)->mutable_histo();
  proto->set_min(histogram.low_);
  proto->set_max(histogram.high_);
  proto->set_num(histogram.number_);
  proto->set_sum(histogram.sum_);
  proto->set_sum_squares(histogram.squares_);
  FillBuckets(histogram.counts_, proto);
}

void SummaryBuilder::AddHistogram(std::string_view tag, const Tensor& values, std::string_view what) {
  Histogram histogram;
  VisitNumbers(values, [&](double v) {
    if (std::isnan(v)) throw InvalidArgument("Nan in summary histogram for: ", what);
    if (std::isinf(v)) throw InvalidArgument("Infinity in summary histogram for: ", what);
    histogram.Add(v);
  });
  AddHistogram(tag, histogram);
}

void SummaryBuilder::AddImages(std::string_view tag, const Tensor& images, int64_t max_images,
                               const Tensor& bad_color) {
  const Shape& shape = images.shape();
  if (shape.rank() != 4 || (shape[3] != 1 && shape[3] != 3 && shape[3] != 4)) {
    throw InvalidArgument("Tensor must be 4-D with last dim 1, 3, or 4, not ", shape);
  }
  constexpr int64_t kMost = int64_t{1} << 31;
  if (shape[0] >= kMost || shape[1] >= kMost || shape[2] >= kMost || shape[1] * shape[2] >= kMost) {
    throw InvalidArgument("Tensor too large for summary ", shape);
  }
  const int64_t batch = std::min(shape[0], max_images), channels = shape[3], size = shape[1] * shape[2] * channels;
  if (size == 0 || batch <= 0) {
    throw InvalidArgument("input tensor must have non-zero dims. Found: [", batch, ", ", shape[1], ", ", shape[2], ", ",
                          channels, "].");
  }
  const bool bytes = images.dtype() == DT_UINT8;
  if (!bytes && bad_color.num_elements() < channels) {
    throw InvalidArgument("expected depth <= bad_color.size, got depth = ", channels,
                          ", bad_color.size = ", bad_color.num_elements());
  }
  for (int64_t i = 0; i < batch; ++i) {
    std::vector<uint8_t> pixels;
    if (bytes) {
      const uint8_t* first = images.data<uint8_t>() + i * size;
      pixels.assign(first, first + size);
    } else {
      std::vector<float> values;
      VisitNumbers(images.Slice(i, i + 1), [&](double v) { values.push_back(static_cast<float>(v)); });
      pixels = ImageOfFloats(values, channels, bad_color.flat<uint8_t>());
    }
    // TensorBoard groups tags by what stands before "/image".
    auto* value = impl_->Add(max_images > 1 ? StrCat(tag, "/image/", i) : StrCat(tag, "/image"));
    auto* image = value->mutable_image();
    image->set_height(static_cast<int32_t>(shape[1]));
    image->set_width(static_cast<int32_t>(shape[2]));
    image->set_colorspace(static_cast<int32_t>(channels));
    image->set_encoded_image_string(EncodePng(pixels, shape[2], shape[1], static_cast<int>(channels)));
  }
}

void SummaryBuilder::AddAudio(std::string_view tag, const Tensor& sounds, float sample_rate, int64_t max_outputs) {
  const Shape& shape = sounds.shape();
  if (shape.rank() != 2 && shape.rank() != 3) throw InvalidArgument("Tensor must be 3-D or 2-D, got: ", shape);
  if (!(sample_rate > 0) || sample_rate > 4e9f) throw InvalidArgument("sample_rate must be > 0");
  const int64_t frames = shape[1], channels = shape.rank() == 3 ? shape[2] : 1;
  for (int64_t i = 0; i < std::min(shape[0], max_outputs); ++i) {
    auto* value = impl_->Add(max_outputs > 1 ? StrCat(tag, "/audio/", i) : StrCat(tag, "/audio"));
    auto* audio = value->mutable_audio();
    audio->set_sample_rate(sample_rate);
    audio->set_num_channels(channels);
    audio->set_length_frames(frames);
    audio->set_content_type("audio/wav");
    const auto samples = sounds.flat<float>().subspan(i * frames * channels, frames * channels);
    audio->set_encoded_audio_string(
        EncodeWav(samples, std::max<int64_t>(1, std::lround(sample_rate)), channels, frames));
  }
}

namespace {

// As bytes, a scalar too: what readers of summaries expect.
void ToPackedProto(const Tensor& value, tensorflow::TensorProto* proto) {
  if (value.dtype() == DT_STRING || value.num_elements() == 0) return ToProto(value, proto);
  proto->set_dtype(static_cast<tensorflow::DataType>(value.dtype()));
  ToProto(PartialShape(value.shape()), proto->mutable_tensor_shape());
  proto->set_tensor_content(value.raw(), value.bytes());
}

}  // namespace

void SummaryBuilder::AddTensor(std::string_view tag, const Tensor& value, std::optional<std::string_view> metadata) {
  auto* added = impl_->Add(tag);
  ToPackedProto(value, added->mutable_tensor());
  if (metadata) ParseMessage(*metadata, added->mutable_metadata());
}

void SummaryBuilder::AddNodeTensor(std::string_view node, const Tensor& value) {
  auto* added = impl_->summary.add_value();
  added->set_node_name(std::string(node));
  ToPackedProto(value, added->mutable_tensor());
}

void SummaryBuilder::Merge(std::string_view summary) {
  tensorflow::Summary other;
  if (!Parses(summary, &other)) throw InvalidArgument("Could not parse one of the summary inputs");
  for (auto& value : *other.mutable_value()) {
    if (!value.tag().empty() && !impl_->tags.insert(value.tag()).second) {
      throw InvalidArgument("Duplicate tag ", value.tag(), " found in summary inputs");
    }
    *impl_->summary.add_value() = std::move(value);
  }
}

void SummaryBuilder::Append(std::string_view summary) {
  tensorflow::Summary other;
  if (!Parses(summary, &other)) throw DataLoss("Bad tf.compat.v1.Summary binary proto tensor string");
  impl_->summary.MergeFrom(other);
}

std::string SummaryBuilder::Serialize() const { return SerializeMessage(impl_->summary); }

std::string SummaryBuilder::SerializeEvent(double wall_time, int64_t step) const {
  tensorflow::Event event;
  event.set_wall_time(wall_time);
  event.set_step(step);
  *event.mutable_summary() = impl_->summary;
  return SerializeMessage(event);
}

std::string FileVersionEvent(double wall_time) {
  tensorflow::Event event;
  event.set_wall_time(wall_time);
  event.set_file_version("brain.Event:2");
  event.mutable_source_metadata()->set_writer("tensorflow.core.util.events_writer");
  return SerializeMessage(event);
}

std::string GraphEvent(double wall_time, int64_t step, std::string_view graph_def) {
  tensorflow::Event event;
  event.set_wall_time(wall_time);
  event.set_step(step);
  event.set_graph_def(std::string(graph_def));
  return SerializeMessage(event);
}

std::string CheckedEvent(std::string_view event) {
  tensorflow::Event parsed;
  if (!Parses(event, &parsed)) throw DataLoss("Bad tf.Event binary proto");
  return std::string(event);
}

}  // namespace penstock
