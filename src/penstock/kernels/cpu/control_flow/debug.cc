// What a debugger sees of a tensor.
#include <algorithm>
#include <cmath>
#include <limits>

#include "penstock/io/debug_dump.h"
#include "penstock/io/debug_events.h"
#include "penstock/kernel/kernel_registry.h"

namespace penstock {
namespace {

class Watch {
 public:
  explicit Watch(const NodeView& node)
      : urls_(node.attr<std::vector<std::string>>("debug_urls")), device_(node.attr<std::string>("device_name")) {
    const auto& tensor = node.attr<std::string>("tensor_name");
    const size_t colon = tensor.find(':');
    key_.node = tensor.substr(0, colon);
    key_.debug_op = node.op().name;
    if (tensor.empty()) throw InvalidArgument("Failed to parse tensor name: \"\"");
    if (colon != std::string::npos && !ParseInt64(tensor.substr(colon + 1), &key_.slot)) {
      throw InvalidArgument("Invalid string value for output_slot: \"", tensor.substr(colon + 1), "\"");
    }
  }
  void Send(const KernelContext& k, const Tensor& value) const {
    if (urls_.empty()) return;
    DebugKey key = key_;
    key.device = device_.empty() ? k.device().name() : device_;
    DumpTensor(key, value, urls_);
  }

 private:
  const std::vector<std::string> urls_;
  const std::string device_;
  DebugKey key_;
};

struct DebugIdentity {
  Watch watch;
  explicit DebugIdentity(const NodeView& node) : watch(node) {}
  void operator()(KernelContext& k) const {
    watch.Send(k, k.input(0));
    k.Forward(0, 0);
  }
};

class DebugIdentityV2 {
 public:
  explicit DebugIdentityV2(const NodeView& node)
      : run_id_(node.attr<std::string>("tfdbg_run_id")), kept_(node.attr<int64_t>("circular_buffer_size")) {
    trace_.context = node.attr<std::string>("tfdbg_context_id");
    trace_.op = node.attr<std::string>("op_name");
    trace_.slot = node.attr<int64_t>("output_slot");
    trace_.mode = node.attr<int64_t>("tensor_debug_mode");
    for (const std::string& url : node.attr<std::vector<std::string>>("debug_urls")) {
      constexpr std::string_view kFile = "file://";
      if (!url.starts_with(kFile)) throw Unimplemented("debug URLs other than file://: ", url);
      directories_.push_back(url.substr(kFile.size()));
    }
  }
  void operator()(KernelContext& k) const {
    for (const std::string& directory : directories_) {
      const std::shared_ptr<DebugEvents> events = DebugEvents::OfStep(directory, run_id_, kept_);
      if (!events) continue;  // the debugger has been switched off since
      DebugTrace trace = trace_;
      trace.device = k.device().name();
      events->Write(DebugEvents::kGraphExecutionTraces, SerializeTrace(trace, k.input(0)));
    }
    k.Forward(0, 0);
  }

 private:
  const std::string run_id_;
  const int64_t kept_;
  DebugTrace trace_;
  std::vector<std::string> directories_;
};

struct Counts {
  int64_t elements = 0, negative_inf = 0, negative = 0, zero = 0, positive = 0, positive_inf = 0, nan = 0;
  double least = std::numeric_limits<double>::infinity(), greatest = -std::numeric_limits<double>::infinity();
  double sum = 0;
  int64_t finite() const { return elements - nan - infinite; }
  int64_t infinite = 0;  // really so; numbers beyond the bounds are counted with the infinities, but are finite
};

template <class T>
Counts CountElements(const Tensor& t, double lower = -std::numeric_limits<double>::infinity(),
                     double upper = std::numeric_limits<double>::infinity()) {
  Counts c;
  if (!t.initialized()) return c;
  c.elements = t.num_elements();
  for (const T v : t.flat<T>()) {
    const auto x = static_cast<double>(v);
    if (std::isnan(x)) {
      ++c.nan;
      continue;
    }
    if (std::isinf(x)) {
      ++c.infinite;
      ++(x < 0 ? c.negative_inf : c.positive_inf);
      continue;
    }
    if (!std::isinf(lower) && x <= lower) {
      ++c.negative_inf;
    } else if (!std::isinf(upper) && x >= upper) {
      ++c.positive_inf;
    } else {
      ++(x < 0 ? c.negative : x > 0 ? c.positive : c.zero);
    }
    c.least = std::min(c.least, x);
    c.greatest = std::max(c.greatest, x);
    c.sum += x;
  }
  return c;
}

template <class T>
struct DebugNanCount {
  Watch watch;
  explicit DebugNanCount(const NodeView& node) : watch(node) {}
  void operator()(KernelContext& k) const {
    const int64_t nans = CountElements<T>(k.input(0)).nan;
    Tensor& out = k.Output(0, Shape({1}));
    *out.mutable_data<int64_t>() = nans;
    watch.Send(k, out);
  }
};

template <class T>
struct DebugNumericSummary {
  Watch watch;
  double lower, upper;
  bool mute;
  explicit DebugNumericSummary(const NodeView& node)
      : watch(node),
        lower(node.attr<float>("lower_bound")),
        upper(node.attr<float>("upper_bound")),
        mute(node.attr<bool>("mute_if_healthy")) {}
  void operator()(KernelContext& k) const {
    const Tensor in = k.input(0);
    const Counts c = CountElements<T>(in, lower, upper);
    double mean = std::numeric_limits<double>::quiet_NaN(), variance = mean;
    if (const auto n = static_cast<double>(c.finite()); n > 0) {
      mean = c.sum / n;
      variance = 0;
      for (const T v : in.flat<T>()) {
        const auto x = static_cast<double>(v);
        if (std::isfinite(x)) variance += (x - mean) * (x - mean);
      }
      variance /= n;
    }
    const int rank = in.initialized() ? in.rank() : 0;
    Tensor& out = k.Output(0, Shape({14 + rank}));
    auto* to = out.mutable_data<double>();
    const double values[] = {in.initialized() ? 1.0 : 0.0,
                             static_cast<double>(c.elements),
                             static_cast<double>(c.nan),
                             static_cast<double>(c.negative_inf),
                             static_cast<double>(c.negative),
                             static_cast<double>(c.zero),
                             static_cast<double>(c.positive),
                             static_cast<double>(c.positive_inf),
                             c.least,
                             c.greatest,
                             mean,
                             variance,
                             static_cast<double>(in.dtype()),
                             static_cast<double>(rank)};
    std::copy(std::begin(values), std::end(values), to);
    for (int i = 0; i < rank; ++i) to[14 + i] = static_cast<double>(in.dim(i));
    if (!mute || c.nan > 0 || c.negative_inf > 0 || c.positive_inf > 0) watch.Send(k, out);
  }
};

// Numbers of TensorDebugMode.
enum Mode { kCurtHealth = 2, kConciseHealth = 3, kFullHealth = 4, kShape = 5, kInfNanSlots = 8 };

template <class T>
struct DebugNumericSummaryV2 {
  int64_t mode, id;
  explicit DebugNumericSummaryV2(const NodeView& node)
      : mode(node.attr<int64_t>("tensor_debug_mode")), id(node.attr<int64_t>("tensor_id")) {
    const bool known =
        mode == kCurtHealth || mode == kConciseHealth || mode == kFullHealth || mode == kShape || mode == kInfNanSlots;
    if (!known) throw Unimplemented("Unimplemented tensor debug mode: ", mode);
    constexpr int64_t kLargestFloat = int64_t{1} << 24, kLargestDouble = int64_t{1} << 53;
    const int64_t largest = node.output_type(0) == DT_FLOAT ? kLargestFloat : kLargestDouble;
    if (mode != kInfNanSlots && id > largest) {
      throw InvalidArgument("DebugNumericSummaryV2Op requires tensor_id to be less than or equal to ", largest,
                            ". Given tensor_id:", id);
    }
  }
  void operator()(KernelContext& k) const {
    const Tensor in = k.input(0);
    const auto number = static_cast<double>(id);
    const Counts c = mode == kShape ? Counts() : CountElements<T>(in);
    const auto n = static_cast<double>(in.num_elements()), type = static_cast<double>(in.dtype());
    const auto as_double = [](int64_t v) { return static_cast<double>(v); };
    const double inf = std::numeric_limits<double>::infinity();
    switch (mode) {
      case kCurtHealth: return Set(k, {number, c.nan + c.infinite > 0 ? 1.0 : 0.0});
      case kConciseHealth:
        return Set(k, {number, n, as_double(c.negative_inf), as_double(c.positive_inf), as_double(c.nan)});
      case kFullHealth:
        return Set(k,
                   {number, -1.0, type, as_double(in.rank()), n, as_double(c.negative_inf), as_double(c.positive_inf),
                    as_double(c.nan), as_double(c.negative), as_double(c.zero), as_double(c.positive)});
      case kInfNanSlots:
        return Set(k, {c.negative_inf ? -inf : 0.0, c.positive_inf ? inf : 0.0,
                       c.nan ? std::numeric_limits<double>::quiet_NaN() : 0.0});
      default: {
        std::vector<double> values = {number, type, as_double(in.rank()), n};
        constexpr int kSizes = 6;  // the last ones, if there are more
        for (int i = std::max(0, in.rank() - kSizes); i < in.rank(); ++i) values.push_back(as_double(in.dim(i)));
        values.resize(4 + kSizes);
        return Set(k, values);
      }
    }
  }

 private:
  static void Set(KernelContext& k, const std::vector<double>& values) {
    Tensor& out = k.Output(0, Shape({static_cast<int64_t>(values.size())}));
    for (size_t i = 0; i < values.size(); ++i) {
      if (out.dtype() == DT_FLOAT) {
        out.mutable_data<float>()[i] = static_cast<float>(values[i]);
      } else {
        out.mutable_data<double>()[i] = values[i];
      }
    }
  }
};

}  // namespace

void RegisterDebugKernels(KernelRegistry& kernels) {
  using Integers = Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
  kernels.Add<DebugIdentity>("DebugIdentity");
  kernels.Add<DebugIdentityV2>("DebugIdentityV2");
  kernels.Add<DebugNanCount>("DebugNanCount", Integers{});
  kernels.Add<DebugNanCount>("DebugNanCount", Floats{});
  kernels.Add<DebugNumericSummary>("DebugNumericSummary", Integers{});
  kernels.Add<DebugNumericSummary>("DebugNumericSummary", Types<bool, float, double>{});
  kernels.Add<DebugNumericSummaryV2>("DebugNumericSummaryV2", Integers{});
  kernels.Add<DebugNumericSummaryV2>("DebugNumericSummaryV2", Types<bool, Half, BFloat16, float, double>{});
}

}  // namespace penstock
