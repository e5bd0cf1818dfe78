// Choosing among boxes, and boxes drawn at random.
#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

#include "penstock/base/random.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/compute.h"
#include "penstock/kernels/cpu/random/random_samplers.h"

namespace penstock {
namespace {

// Intersection over union of two boxes given by opposite corners.
float Overlap(const float* a, const float* b) {
  const auto low = [](const float* box, int i) { return std::min(box[i], box[i + 2]); };
  const auto high = [](const float* box, int i) { return std::max(box[i], box[i + 2]); };
  const auto area = [&](const float* box) { return (high(box, 0) - low(box, 0)) * (high(box, 1) - low(box, 1)); };
  const float area_a = area(a), area_b = area(b);
  if (area_a <= 0 || area_b <= 0) return 0;
  float both = 1;
  for (int i = 0; i < 2; ++i) {
    both *= std::max(std::min(high(a, i), high(b, i)) - std::max(low(a, i), low(b, i)), 0.0f);
  }
  return both / (area_a + area_b - both);
}

struct Candidate {
  int32_t box;
  float score;
  size_t compared;  // with so many of the chosen
  bool operator<(const Candidate& other) const {
    return score < other.score || (score == other.score && box > other.box);
  }
};

struct Chosen {
  std::vector<int32_t> boxes;
  std::vector<float> scores;
};

// The best `limit` boxes, each overlapping those before it by at most `threshold`; with a sigma, overlap lowers scores
// instead.
template <class Similarity>
Chosen Choose(std::span<const float> scores, int64_t limit, float threshold, float least_score, float sigma,
              const Similarity& similarity) {
  Chosen chosen;
  std::vector<Candidate> all;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (scores[i] > least_score) all.push_back({static_cast<int32_t>(i), scores[i], 0});
  }
  std::priority_queue<Candidate> queue(std::less<Candidate>(), std::move(all));
  const bool soft = sigma > 0;
  const float scale = soft ? -0.5f / sigma : 0.0f;
  while (static_cast<int64_t>(chosen.boxes.size()) < limit && !queue.empty()) {
    Candidate next = queue.top();
    queue.pop();
    const float original = next.score;
    bool suppressed = false;
    for (size_t j = chosen.boxes.size(); j-- > next.compared;) {
      const float s = similarity(next.box, chosen.boxes[j]);
      if (soft) next.score *= std::exp(scale * s * s);
      suppressed = !soft && s > threshold;
      if (suppressed || next.score <= least_score) break;
    }
    next.compared = chosen.boxes.size();
    if (suppressed) continue;
    if (next.score == original) {
      chosen.boxes.push_back(next.box);
      chosen.scores.push_back(next.score);
    } else if (next.score > least_score) {
      queue.push(next);
    }
  }
  return chosen;
}

float ScalarOf(KernelContext& k, int i, const char* name) {
  k.Require(k.shape(i).rank() == 0, name, " must be 0-D, got shape ", k.shape(i));
  return *ComputeInput<float>(k, k.input(i)).data;
}
int64_t SizeOf(KernelContext& k, int i, const char* name) {
  k.Require(k.shape(i).rank() == 0, name, " must be 0-D, got shape ", k.shape(i));
  return k.Int(i);
}
void RequireRatio(float threshold) {
  KernelContext::Require(threshold >= 0 && threshold <= 1, "iou_threshold must be in [0, 1]");
}

// All versions of NonMaxSuppression.
struct NonMaxSuppression {
  float threshold;  // of the first version
  bool pad;
  explicit NonMaxSuppression(const NodeView& node)
      : threshold(node.attr_or<float>("iou_threshold", 0.5f)),
        pad(node.attr_or<bool>("pad_to_max_output_size", false)) {
    RequireRatio(threshold);
  }
  void operator()(KernelContext& k) const {
    const Shape &shape = k.shape(0), &score_shape = k.shape(1);
    k.Require(shape.rank() == 2, "boxes must be 2-D", shape);
    k.Require(shape[1] == 4, "boxes must have 4 columns");
    k.Require(score_shape.rank() == 1, "scores must be 1-D", score_shape);
    k.Require(score_shape[0] == shape[0], "scores has incompatible shape");
    k.Require(shape[0] <= std::numeric_limits<int32_t>::max(), "there are too many boxes");
    const int64_t limit = SizeOf(k, 2, "max_output_size");
    k.Require(limit >= 0, "output size must be non-negative");
    float most = threshold;
    if (k.num_inputs() > 3) {
      most = ScalarOf(k, 3, "iou_threshold");
      RequireRatio(most);
    }
    const float least = k.num_inputs() > 4 ? ScalarOf(k, 4, "score_threshold") : std::numeric_limits<float>::lowest();
    const float sigma = k.num_inputs() > 5 ? ScalarOf(k, 5, "soft_nms_sigma") : 0.0f;
    k.Require(sigma >= 0, "soft_nms_sigma_val must be >= 0");
    const ComputeInput<float> boxes(k, k.input(0)), scores(k, k.input(1));
    Chosen chosen = Choose({scores.data, static_cast<size_t>(shape[0])}, limit, most, least, sigma,
                           [&](int32_t a, int32_t b) { return Overlap(boxes.data + 4 * a, boxes.data + 4 * b); });
    const auto valid = static_cast<int32_t>(chosen.boxes.size());
    const Shape out({pad ? limit : valid});
    const auto indices = k.out<int32_t>(0, out);
    std::fill(std::copy(chosen.boxes.begin(), chosen.boxes.end(), indices.begin()), indices.end(), 0);
    if (k.num_outputs() == 3) {
      ComputeOutput<float> kept(k, 1, out);
      std::fill(std::copy(chosen.scores.begin(), chosen.scores.end(), kept.data), kept.data + out[0], 0.0f);
      kept.Store();
    }
    if (k.num_outputs() > 1) k.SetOutput(k.num_outputs() - 1, Tensor(valid));
  }
};

struct NonMaxSuppressionWithOverlaps {
  void operator()(KernelContext& k) const {
    const Shape &shape = k.shape(0), &score_shape = k.shape(1);
    k.Require(shape.rank() == 2, "overlaps must be 2-D", shape);
    k.Require(shape[0] == shape[1], "overlaps must be square", shape);
    k.Require(score_shape.rank() == 1, "scores must be 1-D", score_shape);
    k.Require(score_shape[0] == shape[0], "scores has incompatible shape");
    const int64_t limit = SizeOf(k, 2, "max_output_size");
    k.Require(limit >= 0, "output size must be non-negative");
    const float most = ScalarOf(k, 3, "overlap_threshold"), least = ScalarOf(k, 4, "score_threshold");
    const float* overlaps = k.in<float>(0).data();
    const Chosen chosen = Choose(k.in<float>(1), limit, most, least, 0.0f,
                                 [&](int32_t a, int32_t b) { return overlaps[a * shape[0] + b]; });
    k.SetOutput(0, Tensor::Vector(chosen.boxes));
  }
};

struct BipartiteMatch {
  int64_t top_k;
  explicit BipartiteMatch(const NodeView& node) : top_k(node.attr<int64_t>("top_k")) {}

  void operator()(KernelContext& k) const {
    k.Require(k.shape(0).rank() == 2, "distance_mat should be 2-dimensional, but got ", k.shape(0));
    k.Require(k.shape(1).num_elements() == 1, "num_valid_rows argument should be a tensor with 1 element, but got ",
              k.shape(1).num_elements());
    const int64_t rows = k.shape(0).dim(0), columns = k.shape(0).dim(1);
    const float wanted = k.in<float>(1)[0];
    k.Require(wanted <= static_cast<float>(rows), "There should be at least ", wanted,
              " rows in distance_mat, but only got ", rows, " rows.");
    const int64_t valid = wanted >= 0 ? static_cast<int64_t>(wanted + 0.1f) : rows;
    const auto distances = k.in<float>(0);
    const auto column_of = k.out<int32_t>(0, Shape({rows})), row_of = k.out<int32_t>(1, Shape({columns}));
    std::fill(column_of.begin(), column_of.end(), -1);
    std::fill(row_of.begin(), row_of.end(), -1);
    // Pairs enter the heap row by row: which of two equal distances comes first is the heap's affair, as in TensorFlow.
    struct Pair {
      int32_t row, column;
      float distance;
      bool operator<(const Pair& other) const { return other.distance < distance; }
    };
    std::priority_queue<Pair> queue;
    for (int64_t r = 0; r < valid; ++r) {
      for (int64_t c = 0; c < columns; ++c) {
        queue.push({static_cast<int32_t>(r), static_cast<int32_t>(c), distances[r * columns + c]});
      }
    }
    int64_t left = top_k > 0 ? top_k : valid * columns;
    for (; left > 0 && !queue.empty(); queue.pop()) {
      const Pair& nearest = queue.top();
      if (column_of[nearest.row] >= 0 || row_of[nearest.column] >= 0) continue;
      column_of[nearest.row] = nearest.column;
      row_of[nearest.column] = nearest.row;
      --left;
    }
  }
};

struct CombinedNonMaxSuppression {
  bool pad_per_class, clip;
  explicit CombinedNonMaxSuppression(const NodeView& node)
      : pad_per_class(node.attr<bool>("pad_per_class")), clip(node.attr<bool>("clip_boxes")) {}
  struct Result {
    float score;
    int64_t kind;
    const float* box;
  };
  void operator()(KernelContext& k) const {
    const Shape &boxes = k.shape(0), &scores = k.shape(1);
    k.Require(boxes.rank() == 4, "boxes must be 4-D", boxes);
    k.Require(scores.rank() == 3, "scores must be 3-D", scores);
    k.Require(boxes[0] == scores[0], "boxes and scores must have same batch size");
    const int64_t batch = boxes[0], n = boxes[1], kinds = scores[2], shared = boxes[2];
    k.Require(shared == 1 || shared == kinds, "third dimension of boxes must be either 1 or num classes");
    k.Require(boxes[3] == 4, "boxes must have 4 columns");
    k.Require(scores[1] == n, "scores has incompatible shape");
    const int64_t per_class = SizeOf(k, 2, "max_size_per_class"), total = SizeOf(k, 3, "max_total_size");
    k.Require(per_class > 0, "max_size_per_class must be positive");
    k.Require(total > 0, "max_total_size must be > 0");
    const float most = ScalarOf(k, 4, "iou_threshold"), least = ScalarOf(k, 5, "score_threshold");
    RequireRatio(most);
    const int64_t size = pad_per_class ? std::min(total, per_class * kinds) : total;
    const auto out_boxes = k.out<float>(0, Shape({batch, size, 4}));
    const auto out_scores = k.out<float>(1, Shape({batch, size})), out_kinds = k.out<float>(2, Shape({batch, size}));
    const auto valid = k.out<int32_t>(3, Shape({batch}));
    for (const auto& out : {out_boxes, out_scores, out_kinds}) std::fill(out.begin(), out.end(), 0.0f);
    const auto box_of = [&](int64_t b, int64_t kind, int64_t i) {
      return k.in<float>(0).data() + ((b * n + i) * shared + (shared > 1 ? kind : 0)) * 4;
    };
    std::vector<Chosen> chosen(batch * kinds);
    k.Parallel(batch * kinds, std::max<int64_t>(1, n * 50), [&](int64_t begin, int64_t end) {
      std::vector<float> column(n);
      for (int64_t at = begin; at < end; ++at) {
        const int64_t b = at / kinds, kind = at % kinds;
        const float* const score = k.in<float>(1).data() + b * n * kinds + kind;
        for (int64_t i = 0; i < n; ++i) column[i] = score[i * kinds];
        chosen[at] = Choose(column, std::min(per_class, n), most, least, 0.0f,
                            [&](int32_t i, int32_t j) { return Overlap(box_of(b, kind, i), box_of(b, kind, j)); });
      }
    });
    for (int64_t b = 0; b < batch; ++b) {
      std::vector<Result> results;
      for (int64_t kind = 0; kind < kinds; ++kind) {
        const Chosen& best = chosen[b * kinds + kind];
        for (size_t i = 0; i < best.boxes.size(); ++i) {
          results.push_back({best.scores[i], kind, box_of(b, kind, best.boxes[i])});
        }
      }
      std::stable_sort(results.begin(), results.end(),
                       [](const Result& x, const Result& y) { return x.score > y.score; });
      const int64_t kept = std::min<int64_t>(size, static_cast<int64_t>(results.size()));
      valid[b] = static_cast<int32_t>(kept);
      for (int64_t i = 0; i < kept; ++i) {
        const int64_t at = b * size + i;
        out_scores[at] = results[i].score;
        out_kinds[at] = static_cast<float>(results[i].kind);
        for (int c = 0; c < 4; ++c) {
          const float v = results[i].box[c];
          out_boxes[at * 4 + c] = clip ? std::max(std::min(v, 1.0f), 0.0f) : v;
        }
      }
    }
  }
};

// --- boxes at random

struct Rectangle {
  int64_t left = 0, top = 0, right = 0, bottom = 0;
  double area() const { return static_cast<double>((right - left) * (bottom - top)); }
};

class DistortedBox {
 public:
  explicit DistortedBox(const NodeView& node)
      : aspect_(node.attr<std::vector<float>>("aspect_ratio_range")),
        area_(node.attr<std::vector<float>>("area_range")),
        attempts_(node.attr<int64_t>("max_attempts")),
        whole_image_(node.attr<bool>("use_image_if_no_bounding_boxes")) {
    const auto require = [](bool ok, auto... parts) { KernelContext::Require(ok, parts...); };
    require(aspect_.size() == 2, "Aspect ratio range field must specify 2 dimensions");
    require(aspect_[0] > 0 && aspect_[1] > 0, "Aspect ratio range must be non-negative: [", aspect_[0], ", ",
            aspect_[1], "]");
    require(area_.size() == 2, "Area range field must specify 2 dimensions");
    require(area_[0] > 0 && area_[1] > 0, "Area range must be non-negative: [", area_[0], ", ", area_[1], "]");
    require(area_[0] <= 1 && area_[1] <= 1, "Area range must be less then or equal to 1.0: [", area_[0], ", ", area_[1],
            "]");
    require(attempts_ > 0, "Max attempts must be non-negative: ", attempts_);
    require(attempts_ <= std::numeric_limits<int32_t>::max(), "Max attempts is too large: ", attempts_);
  }
  // Four numbers for each attempt.
  uint64_t groups() const { return static_cast<uint64_t>(attempts_); }

  void Run(KernelContext& k, float least_covered, const Philox& philox) const {
    k.Require(k.shape(0).rank() == 1, "image_size must be 1-dimensional", k.shape(0));
    k.Require(k.shape(0)[0] == 3, "image_size must contain 3 elements", k.shape(0));
    const ComputeInput<int64_t> size(k, k.input(0));
    const int64_t height = size.data[0], width = size.data[1];
    constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
    k.Require(height >= 0 && height < kMax, "image height cannot be >= int32 max");
    k.Require(width >= 0 && width < kMax, "image width cannot be >= int32 max");
    k.Require(k.shape(1).rank() == 3, "input boxes must be 3-dimensional [batch, num_boxes, coords]: ", k.shape(1));
    k.Require(k.shape(1)[2] == 4, "bounding boxes must have shape [4] or [*, 4], got ", k.shape(1));
    k.Require(least_covered >= 0, "Min object covered must be non-negative: ", least_covered);
    const Rectangle image{0, 0, width, height};
    std::vector<Rectangle> objects;
    const auto boxes = k.in<float>(1);
    for (size_t i = 0; i < boxes.size(); i += 4) {
      for (size_t j = i; j < i + 4; ++j) {
        k.Require(boxes[j] >= 0 && boxes[j] <= 1, "All bounding box coordinates must be in [0.0, 1.0]: ", boxes[j]);
      }
      const auto place = [&](size_t j, int64_t n) {
        return static_cast<int64_t>(boxes[i + j] * static_cast<float>(n));
      };
      objects.push_back({place(1, width), place(0, height), place(3, width), place(2, height)});
    }
    if (objects.empty()) {
      k.Require(whole_image_,
                "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if you wish to "
                "not provide any bounding boxes.");
      objects.push_back(image);
    }
    PhiloxSingles random(philox);
    Rectangle crop, found = image;
    // A part of a box covers at most all of it, and a box without pixels is never covered.
    const bool possible = least_covered <= 1 && width > 0 && height > 0 && area_[0] <= area_[1] &&
                          std::ranges::any_of(objects, [](const Rectangle& object) { return object.area() >= 1; });
    for (int64_t i = 0; possible && i < attempts_; ++i) {
      if (i % 4096 == 4095 && k.cancelled()) throw Cancelled("Step was cancelled.");
      const float aspect = UnitFloat(random()) * (aspect_[1] - aspect_[0]) + aspect_[0];
      if (Draw(width, height, aspect, random, &crop) && Covers(crop, least_covered, objects)) {
        found = crop;
        break;
      }
    }
    ComputeOutput<int64_t> begin(k, 0, Shape({3})), extent(k, 1, Shape({3}));
    begin.data[0] = found.top, begin.data[1] = found.left, begin.data[2] = 0;
    extent.data[0] = found.bottom - found.top, extent.data[1] = found.right - found.left, extent.data[2] = -1;
    begin.Store();
    extent.Store();
    const auto box = k.out<float>(2, Shape({1, 1, 4}));
    const auto part = [](int64_t at, int64_t n) { return static_cast<float>(at) / static_cast<float>(n); };
    box[0] = part(found.top, height), box[1] = part(found.left, width);
    box[2] = part(found.bottom, height), box[3] = part(found.right, width);
  }

 private:
  // Uniform in [0, n): numbers that would favour the lower ones are drawn again.
  static int64_t Below(PhiloxSingles& random, int64_t n) {
    const auto count = static_cast<uint32_t>(n);
    uint32_t drawn = random();
    if ((count & (count - 1)) == 0) return drawn & (count - 1);
    const uint32_t refused = ~uint32_t{0} % count + 1;
    while (drawn < refused) drawn = random();
    return drawn % count;
  }
  bool Draw(int64_t width, int64_t height, float aspect, PhiloxSingles& random, Rectangle* crop) const {
    if (width <= 0 || height <= 0 || area_[0] > area_[1]) return false;
    const auto whole_w = static_cast<float>(width), whole_h = static_cast<float>(height);
    const float least = area_[0] * whole_w * whole_h, most = area_[1] * whole_w * whole_h;
    const auto rounded = [](float v) { return static_cast<int64_t>(std::lrintf(v)); };
    int64_t h = rounded(std::sqrt(least / aspect)), highest = rounded(std::sqrt(most / aspect));
    if (rounded(static_cast<float>(highest) * aspect) > width) {
      highest = static_cast<int64_t>((static_cast<double>(whole_w) + 0.5 - 0.0000001f) / aspect);
    }
    highest = std::min(highest, height);
    h = std::min(h, highest);
    if (h < highest) h += Below(random, highest - h + 1);
    const auto width_of = [&](int64_t rows) { return rounded(static_cast<float>(rows) * aspect); };
    int64_t w = width_of(h);
    auto area = static_cast<float>(w * h);
    if (area < least) w = width_of(++h), area = static_cast<float>(w * h);
    if (area > most) w = width_of(--h), area = static_cast<float>(w * h);
    if (area < least || area > most || w > width || h > height || w <= 0 || h <= 0) return false;
    const int64_t top = h < height ? Below(random, height - h) : 0;
    const int64_t left = w < width ? Below(random, width - w) : 0;
    *crop = {left, top, left + w, top + h};
    return true;
  }
  static bool Covers(const Rectangle& crop, float least, const std::vector<Rectangle>& objects) {
    if (crop.area() < 1) return false;
    return std::any_of(objects.begin(), objects.end(), [&](const Rectangle& object) {
      if (object.area() < 1) return false;
      const Rectangle both{std::max(crop.left, object.left), std::max(crop.top, object.top),
                           std::min(crop.right, object.right), std::min(crop.bottom, object.bottom)};
      const bool empty = both.left > both.right || both.top > both.bottom;
      return static_cast<float>((empty ? 0 : both.area()) / object.area()) >= least;
    });
  }

  std::vector<float> aspect_, area_;
  int64_t attempts_;
  bool whole_image_;
};

class SampleDistortedBoundingBox : public Kernel {
 public:
  explicit SampleDistortedBoundingBox(const NodeView& node)
      : box_(node),
        covered_(node.attr_or<float>("min_object_covered", 0)),
        philox_(node.attr<int64_t>("seed"), node.attr<int64_t>("seed2")) {
    KernelContext::Require(covered_ >= 0, "Min object covered must be non-negative: ", covered_);
  }
  void Run(KernelContext& k) override {
    const float covered = k.num_inputs() == 3 ? ScalarOf(k, 2, "min_object_covered") : covered_;
    box_.Run(k, covered, philox_.Reserve(box_.groups()));
  }

 private:
  DistortedBox box_;
  float covered_;
  SharedPhilox philox_;
};

class StatelessDistortedBoundingBox : public Kernel {
 public:
  explicit StatelessDistortedBoundingBox(const NodeView& node) : box_(node) {}
  void Run(KernelContext& k) override { box_.Run(k, ScalarOf(k, 2, "min_object_covered"), random::FromSeed(k, 3)); }

 private:
  DistortedBox box_;
};

}  // namespace

void RegisterBoxesKernels(KernelRegistry& kernels) {
  kernels.Add<NonMaxSuppression>("NonMaxSuppression").HostInput(2);
  kernels.Add<NonMaxSuppression>("NonMaxSuppressionV2").HostInput(2);
  kernels.Add<NonMaxSuppression>("NonMaxSuppressionV3").HostInput(2);
  kernels.Add<NonMaxSuppression>("NonMaxSuppressionV4").HostInput(2);
  kernels.Add<NonMaxSuppression>("NonMaxSuppressionV5").HostInput(2);
  kernels.Add<NonMaxSuppressionWithOverlaps>("NonMaxSuppressionWithOverlaps").HostInput(2);
  kernels.Add<CombinedNonMaxSuppression>("CombinedNonMaxSuppression").HostInput(2).HostInput(3);
  kernels.Add<BipartiteMatch>("BipartiteMatch").HostInput(1);
  using Sizes = Types<uint8_t, int8_t, int16_t, int32_t, int64_t>;
  kernels.Add<SampleDistortedBoundingBox>("SampleDistortedBoundingBox", Sizes{}).HostInput(0);
  kernels.Add<SampleDistortedBoundingBox>("SampleDistortedBoundingBoxV2", Sizes{}).HostInput(0);
  kernels.Add<StatelessDistortedBoundingBox>("StatelessSampleDistortedBoundingBox", Sizes{}).HostInput(0).HostInput(3);
}

}  // namespace penstock
