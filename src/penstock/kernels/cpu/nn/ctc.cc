// Connectionist temporal classification, after Graves' thesis: forward and backward variables, and prefix search.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>

#include "penstock/kernel/kernel_registry.h"

namespace penstock {
namespace {

template <class T>
constexpr T kLogZero = -std::numeric_limits<T>::infinity();

template <class T>
T LogSum(T a, T b) {
  if (a < b) std::swap(a, b);
  return b == kLogZero<T> ? a : a + std::log1p(std::exp(b - a));
}

// inputs [time, batch, classes] and the length of each sequence.
struct Sequences {
  int64_t time, batch, classes;
  std::span<const int32_t> length;
  // Lengths beyond the end are InvalidArgument for the loss, FailedPrecondition for decoders, as TensorFlow has them.
  Sequences(KernelContext& k, int length_input) {
    const Shape& shape = k.shape(0);
    k.Require(shape.rank() == 3, "inputs is not a 3-Tensor");
    k.Require(k.shape(length_input).rank() == 1, "sequence_length is not a vector");
    time = shape[0], batch = shape[1], classes = shape[2], length = k.in<int32_t>(length_input);
    k.Require(time > 0, "Max time or first dimension of input cannot be 0.");
    k.Require(classes > 0, "num_classes must not be 0");
    k.Require(classes <= std::numeric_limits<int32_t>::max(), "num_classes cannot exceed max int");
    k.Require(static_cast<int64_t>(length.size()) == batch,
              "len(sequence_length) != batch_size.  len(sequence_length):  ", length.size(), " batch_size: ", batch);
    for (int64_t b = 0; b < batch; ++b) {
      k.Require(length[b] >= 0, "seq_len(", b, ") < 0");
      if (length[b] <= time) continue;
      if (length_input == 1) throw FailedPrecondition("sequence_length(", b, ") <= ", time);
      throw InvalidArgument("sequence_length(", b, ") <= ", time);
    }
  }
  template <class T>
  const T* At(const T* data, int64_t t, int64_t b) const {
    return data + (t * batch + b) * classes;
  }
};

template <class T>
class CtcLoss {
 public:
  explicit CtcLoss(const NodeView& node)
      : collapse_(node.attr<bool>("preprocess_collapse_repeated")),
        merge_(node.attr<bool>("ctc_merge_repeated")),
        ignore_longer_(node.attr<bool>("ignore_longer_outputs_than_inputs")) {}

  void operator()(KernelContext& k) const {
    const Sequences s(k, 3);
    const std::vector<std::vector<int32_t>> labels = Labels(k, s);
    const T* x = k.in<T>(0).data();
    const auto loss = k.out<T>(0, Shape({s.batch})), gradient = k.out<T>(1, k.shape(0));
    std::fill(loss.begin(), loss.end(), T(0));
    std::fill(gradient.begin(), gradient.end(), T(0));
    std::vector<std::vector<int32_t>> targets(s.batch);
    for (int64_t b = 0; b < s.batch; ++b) targets[b] = Target(labels[b], b, s);
    k.Parallel(s.batch, s.time * s.classes * 100, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        if (s.length[b] == 0 || (ignore_longer_ && static_cast<int64_t>(labels[b].size()) > s.length[b])) continue;
        loss[b] = One(s, x, b, targets[b], gradient.data());
      }
    });
  }

 private:
  // The labels of each sequence.
  static std::vector<std::vector<int32_t>> Labels(KernelContext& k, const Sequences& s) {
    const Shape &indices = k.shape(1), &values = k.shape(2);
    k.Require(indices.rank() == 2, "labels_indices is not a matrix");
    k.Require(indices[1] > 0, "labels_indices second dimension must be >= 1. Received ", indices[1]);
    k.Require(values.rank() == 1, "labels_values is not a vector");
    k.Require(indices[0] == values[0],
              "labels_indices and labels_values must contain the same number of rows, but saw shapes: ", indices,
              " vs. ", values);
    k.Require(s.batch != 0, "batch_size must not be 0");
    std::vector<std::vector<int32_t>> labels(s.batch);
    const int64_t* at = k.in<int64_t>(1).data();
    const auto value = k.in<int32_t>(2);
    for (int64_t i = 0; i < indices[0]; ++i) {
      const int64_t b = at[i * indices[1]];
      k.Require(b >= 0 && b < s.batch, "labels batch index must be between 0 and ", s.batch, " but saw: ", b);
      k.Require(i == 0 || b >= at[(i - 1) * indices[1]], "label SparseTensor is not valid: indices are out of order");
      labels[b].push_back(value[i]);
    }
    return labels;
  }

  // The labels with blanks around each.
  std::vector<int32_t> Target(const std::vector<int32_t>& labels, int64_t b, const Sequences& s) const {
    const auto require = [](bool ok, const auto&... parts) { KernelContext::Require(ok, parts...); };
    const auto blank = static_cast<int32_t>(s.classes - 1);
    require(!labels.empty(), "Labels length is zero in batch ", b);
    std::vector<int32_t> target = {blank};
    bool ended = false;
    for (size_t i = 0; i < labels.size(); ++i) {
      if (i > 0 && collapse_ && labels[i] == labels[i - 1]) continue;
      if (labels[i] >= blank) {
        ended = true;
        continue;
      }
      require(!ended, "Saw a non-null label (index >= num_classes - 1) following a null label, batch: ", b,
              " num_classes: ", s.classes);
      require(labels[i] >= 0, "All labels must be nonnegative integers, batch: ", b);
      target.push_back(labels[i]);
      target.push_back(blank);
    }
    const auto needed = static_cast<int64_t>(target.size() / 2);
    require(ignore_longer_ || needed <= s.length[b],
            "Not enough time for target transition sequence (required: ", needed, ", available: ", s.length[b], ")", b,
            "You can turn this error into a warning by using the flag ignore_longer_outputs_than_inputs");
    return target;
  }

  // Whether the path may go from position u - 2 of the target to u, over the blank.
  bool Skips(const std::vector<int32_t>& target, size_t u, int32_t blank) const {
    return u > 1 && target[u] != blank && !(merge_ && target[u] == target[u - 2]);
  }

  T One(const Sequences& s, const T* x, int64_t b, const std::vector<int32_t>& target, T* gradient) const {
    const auto blank = static_cast<int32_t>(s.classes - 1);
    const int64_t times = s.length[b];
    const size_t n = target.size();
    std::vector<T> log_y(times * s.classes), alpha(times * n, kLogZero<T>), beta(times * n, kLogZero<T>);
    for (int64_t t = 0; t < times; ++t) {
      const T* from = s.At(x, t, b);
      const T greatest = *std::max_element(from, from + s.classes);
      T sum = 0;
      for (int64_t c = 0; c < s.classes; ++c) sum += std::exp(from[c] - greatest);
      for (int64_t c = 0; c < s.classes; ++c) log_y[t * s.classes + c] = from[c] - greatest - std::log(sum);
    }
    const auto y = [&](int64_t t, size_t u) { return log_y[t * s.classes + target[u]]; };
    const auto stays = [&](size_t u) { return merge_ || target[u] == blank; };
    alpha[0] = y(0, 0);
    if (n > 1) alpha[1] = y(0, 1);
    for (int64_t t = 1; t < times; ++t) {
      const T* before = alpha.data() + (t - 1) * n;
      for (size_t u = 0; u < n; ++u) {
        T sum = stays(u) ? before[u] : kLogZero<T>;
        if (u > 0) sum = LogSum(sum, before[u - 1]);
        if (Skips(target, u, blank)) sum = LogSum(sum, before[u - 2]);
        alpha[t * n + u] = sum + y(t, u);
      }
    }
    T* last = beta.data() + (times - 1) * n;
    last[n - 1] = 0;
    if (n > 1) last[n - 2] = 0;
    for (int64_t t = times - 2; t >= 0; --t) {
      const T* after = beta.data() + (t + 1) * n;
      for (size_t u = 0; u < n; ++u) {
        T sum = stays(u) ? after[u] + y(t + 1, u) : kLogZero<T>;
        if (u + 1 < n) sum = LogSum(sum, after[u + 1] + y(t + 1, u + 1));
        if (u + 2 < n && Skips(target, u + 2, blank)) sum = LogSum(sum, after[u + 2] + y(t + 1, u + 2));
        beta[t * n + u] = sum;
      }
    }
    T total = kLogZero<T>;
    for (size_t u = 0; u < n; ++u) total = LogSum(total, alpha[u] + beta[u]);
    std::vector<T> at_class(s.classes);
    for (int64_t t = 0; t < times; ++t) {
      std::fill(at_class.begin(), at_class.end(), kLogZero<T>);
      for (size_t u = 0; u < n && total != kLogZero<T>; ++u) {
        at_class[target[u]] = LogSum(at_class[target[u]], alpha[t * n + u] + beta[t * n + u]);
      }
      T* to = gradient + (t * s.batch + b) * s.classes;
      for (int64_t c = 0; c < s.classes; ++c) {
        to[c] = std::exp(log_y[t * s.classes + c]);
        if (at_class[c] != kLogZero<T>) to[c] -= std::exp(at_class[c] - total);
      }
    }
    return -total;
  }

  bool collapse_, merge_, ignore_longer_;
};

// Writes one label sequence for each of the batch as a sparse tensor: outputs `path`, paths + path, 2 paths + path.
void StorePaths(KernelContext& k, int paths, int path, const std::vector<std::vector<int64_t>>& labels) {
  int64_t count = 0, longest = 0;
  for (const auto& l : labels) {
    count += static_cast<int64_t>(l.size());
    longest = std::max(longest, static_cast<int64_t>(l.size()));
  }
  int64_t* index = k.out<int64_t>(path, Shape({count, 2})).data();
  int64_t* value = k.out<int64_t>(paths + path, Shape({count})).data();
  for (size_t b = 0; b < labels.size(); ++b) {
    for (size_t i = 0; i < labels[b].size(); ++i) {
      *index++ = static_cast<int64_t>(b), *index++ = static_cast<int64_t>(i), *value++ = labels[b][i];
    }
  }
  k.SetOutput(2 * paths + path, Tensor::Vector(std::vector<int64_t>{static_cast<int64_t>(labels.size()), longest}));
}

template <class T>
struct CtcGreedyDecoder {
  bool merge;
  int64_t blank_index;
  explicit CtcGreedyDecoder(const NodeView& node)
      : merge(node.attr<bool>("merge_repeated")), blank_index(node.attr_or<int64_t>("blank_index", -1)) {}
  void operator()(KernelContext& k) const {
    const Sequences s(k, 1);
    const int64_t blank = blank_index < 0 ? blank_index + s.classes : blank_index;
    k.Require(blank >= 0 && blank < s.classes, "blank_index expected to be between ", -s.classes, " and ",
              s.classes - 1, " but was ", blank_index);
    const T* x = k.in<T>(0).data();
    const auto score = k.out<T>(3, Shape({s.batch, 1}));
    std::vector<std::vector<int64_t>> labels(s.batch);
    for (int64_t b = 0; b < s.batch; ++b) {
      score[b] = 0;
      int64_t before = -1;
      for (int64_t t = 0; t < s.length[b]; ++t) {
        const T* row = s.At(x, t, b);
        const int64_t best = std::max_element(row, row + s.classes) - row;
        score[b] -= row[best];
        if (best != blank && !(merge && best == before)) labels[b].push_back(best);
        before = best;
      }
    }
    StorePaths(k, 1, 0, labels);
  }
};

template <class T>
class BeamSearch {
 public:
  BeamSearch(int64_t classes, int64_t width) : blank_(classes - 1), width_(static_cast<size_t>(width)) {
    root_.now = {T(0), T(0), kLogZero<T>};
    beam_ = {&root_};
  }

  void Step(const T* logits) {
    const T greatest = *std::max_element(logits, logits + blank_ + 1);
    T sum = 0;
    for (int64_t c = 0; c <= blank_; ++c) sum += std::exp(logits[c] - greatest);
    const T offset = greatest + std::log(sum);
    const std::vector<Prefix*> old = beam_;  // best first
    for (Prefix* p : old) p->before = p->now;
    for (Prefix* p : old) {
      if (p->parent) {
        if (p->parent->Alive()) p->now.label = LogSum(p->now.label, p->parent->Reaching(p->label));
        p->now.label += logits[p->label] - offset;
      }
      p->now.blank = p->before.total + logits[blank_] - offset;
      p->now.total = LogSum(p->now.blank, p->now.label);
    }
    Sort();
    for (Prefix* p : old) {
      if (!Welcome(p->before.total)) continue;
      for (int64_t c = 0; c < blank_; ++c) {
        const T total = logits[c] - offset + p->Reaching(c);
        if (!Welcome(total)) continue;
        Prefix& child = p->Child(c);
        if (child.Alive()) continue;
        child.now = {total, kLogZero<T>, total};
        if (beam_.size() == width_) {
          beam_.back()->Die();
          beam_.pop_back();
        }
        beam_.insert(std::upper_bound(beam_.begin(), beam_.end(), &child, Better), &child);
      }
    }
  }

  // The n best label sequences and their log probabilities.
  std::vector<std::pair<std::vector<int64_t>, T>> Best(size_t n, bool merge) const {
    KernelContext::Require(n <= width_, "requested more paths than the beam width.");
    KernelContext::Require(n <= beam_.size(), "Less leaves in the beam search than requested.");
    std::vector<std::pair<std::vector<int64_t>, T>> best;
    for (size_t i = 0; i < n; ++i) {
      std::vector<int64_t> labels;
      int64_t after = -1;
      for (const Prefix* p = beam_[i]; p->parent; p = p->parent) {
        if (!merge || p->label != after) labels.push_back(p->label);
        after = p->label;
      }
      std::reverse(labels.begin(), labels.end());
      best.push_back({std::move(labels), beam_[i]->now.total});
    }
    return best;
  }

 private:
  struct Probability {
    T total = kLogZero<T>, blank = kLogZero<T>, label = kLogZero<T>;
  };
  struct Prefix {
    Prefix* parent = nullptr;
    int64_t label = -1;
    Probability before, now;
    std::map<int64_t, std::unique_ptr<Prefix>> children;

    bool Alive() const { return now.total != kLogZero<T>; }
    void Die() { now = Probability(); }  // may still be extended in this step, by what it was before
    // The probability of what may be followed by a new `c`: after the same label only with a blank between.
    T Reaching(int64_t c) const { return c == label ? before.blank : before.total; }
    Prefix& Child(int64_t c) {
      auto& child = children[c];
      if (!child) {
        child = std::make_unique<Prefix>();
        child->parent = this, child->label = c;
      }
      return *child;
    }
  };
  static bool Better(const Prefix* a, const Prefix* b) { return a->now.total > b->now.total; }
  void Sort() { std::stable_sort(beam_.begin(), beam_.end(), Better); }
  bool Welcome(T total) const {
    return total > kLogZero<T> && (beam_.size() < width_ || total > beam_.back()->now.total);
  }

  int64_t blank_;
  size_t width_;
  Prefix root_;
  std::vector<Prefix*> beam_;
};

template <class T>
struct CtcBeamSearchDecoder {
  int64_t width, paths;
  bool merge;
  explicit CtcBeamSearchDecoder(const NodeView& node)
      : width(node.attr<int64_t>("beam_width")),
        paths(node.attr<int64_t>("top_paths")),
        merge(node.attr<bool>("merge_repeated")) {}
  void operator()(KernelContext& k) const {
    const Sequences s(k, 1);
    const T* x = k.in<T>(0).data();
    const int n = static_cast<int>(paths);
    const auto score = k.out<T>(3 * n, Shape({s.batch, paths}));
    std::vector<std::vector<std::vector<int64_t>>> labels(paths, std::vector<std::vector<int64_t>>(s.batch));
    k.Parallel(s.batch, s.time * s.classes * 1000, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        BeamSearch<T> search(s.classes, width);
        for (int64_t t = 0; t < s.length[b]; ++t) search.Step(s.At(x, t, b));
        auto best = search.Best(static_cast<size_t>(paths), merge);
        for (int64_t i = 0; i < paths; ++i) {
          labels[i][b] = std::move(best[i].first);
          score[b * paths + i] = best[i].second;
        }
      }
    });
    for (int i = 0; i < n; ++i) StorePaths(k, n, i, labels[i]);
  }
};

}  // namespace

void RegisterCtcKernels(KernelRegistry& kernels) {
  kernels.Add<CtcLoss>("CTCLoss", Types<float, double>{});
  kernels.Add<CtcGreedyDecoder>("CTCGreedyDecoder", Types<float, double>{});
  kernels.Add<CtcBeamSearchDecoder>("CTCBeamSearchDecoder", Types<float, double>{});
}

}  // namespace penstock
