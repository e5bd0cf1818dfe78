// Summaries: what a program reports of its training, as serialized Summary messages.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/tensor/tensor.h"

namespace penstock {

// How often values fall into TensorFlow's buckets, which grow by a tenth.
class Histogram {
 public:
  Histogram();
  void Add(double value);  // finite

 private:
  friend class SummaryBuilder;
  std::vector<double> counts_;
  double low_, high_, number_ = 0, sum_ = 0, squares_ = 0;
};

// The values of one Summary message as they come. Tensors must be numbers unless said otherwise.
class SummaryBuilder {
 public:
  SummaryBuilder();
  ~SummaryBuilder();
  SummaryBuilder(const SummaryBuilder&) = delete;

  void AddScalars(const std::vector<std::string_view>& tags, const Tensor& values);  // as many of one as of the other
  void AddHistogram(std::string_view tag, const Histogram& histogram);
  // InvalidArgument naming `what` if a value is not finite.
  void AddHistogram(std::string_view tag, const Tensor& values, std::string_view what);
  // Images [batch, height, width, 1, 3 or 4 channels] of bytes or floats, as PNG. Floats are scaled to the whole range;
  // pixels that are not finite get `bad_color`.
  void AddImages(std::string_view tag, const Tensor& images, int64_t max_images, const Tensor& bad_color);
  // Sounds [batch, frames] or [batch, frames, channels] in [-1, 1], as WAV.
  void AddAudio(std::string_view tag, const Tensor& sounds, float sample_rate, int64_t max_outputs);
  // Any tensor; `metadata` is a serialized SummaryMetadata, if there is one.
  void AddTensor(std::string_view tag, const Tensor& value, std::optional<std::string_view> metadata);
  // The older form: named after its node.
  void AddNodeTensor(std::string_view node, const Tensor& value);
  // The values of another summary. InvalidArgument if it is none, or if a tag comes twice.
  void Merge(std::string_view summary);
  // The same without a look at tags. DataLoss if it is no summary.
  void Append(std::string_view summary);

  std::string Serialize() const;
  // An event that holds it.
  std::string SerializeEvent(double wall_time, int64_t step) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Other events.
std::string FileVersionEvent(double wall_time);
std::string GraphEvent(double wall_time, int64_t step, std::string_view graph_def);
// `event` as it is, checked. DataLoss if it is no Event.
std::string CheckedEvent(std::string_view event);

}  // namespace penstock
