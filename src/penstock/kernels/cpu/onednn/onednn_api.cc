#include "penstock/kernels/cpu/onednn/onednn_api.h"

#include <omp.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <dnnl.hpp>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

namespace {

using dnnl::memory;

dnnl::engine& Engine() {
  static dnnl::engine engine = [] {
    // Plans are cached here; the library's own cache has a lock that a forked child might find taken for ever.
    dnnl::set_primitive_cache_capacity(0);
    return dnnl::engine(dnnl::engine::kind::cpu, 0);
  }();
  return engine;
}
dnnl::stream& Stream() {
  thread_local dnnl::stream stream(Engine());
  return stream;
}

// A plan may run on another thread than the one that made it, so scratch memory is the caller's: one piece for each
// thread.
void* Scratch(size_t bytes) {
  struct Piece {
    std::unique_ptr<char[]> data;
    size_t size = 0;
  };
  thread_local Piece piece;
  constexpr size_t kAlign = 64;
  if (piece.size < bytes + kAlign) {
    piece.data.reset(new char[bytes + kAlign]);
    piece.size = bytes + kAlign;
  }
  const size_t off = reinterpret_cast<uintptr_t>(piece.data.get()) % kAlign;
  return piece.data.get() + (off ? kAlign - off : 0);
}

dnnl::primitive_attr Attr() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

// Of all caches of plans; held during fork, so that it is free in the child.
std::mutex g_plans_mutex;
[[maybe_unused]] const int g_held_during_fork =
    pthread_atfork([] { g_plans_mutex.lock(); }, [] { g_plans_mutex.unlock(); }, [] { g_plans_mutex.unlock(); });

// The most recently used plans, found by the bytes of what they were made for.
template <class Plan>
class PlanCache {
 public:
  template <class Make>
  std::shared_ptr<Plan> Get(std::string_view key, Make make) {
    {
      std::lock_guard lock(g_plans_mutex);
      if (const auto it = by_key_.find(std::string(key)); it != by_key_.end()) {
        plans_.splice(plans_.begin(), plans_, it->second);
        return it->second->second;
      }
    }
    std::shared_ptr<Plan> plan = make();
    std::lock_guard lock(g_plans_mutex);
    plans_.emplace_front(std::string(key), plan);
    by_key_[plans_.front().first] = plans_.begin();
    while (plans_.size() > 512) {
      const auto it = by_key_.find(plans_.back().first);
      if (it != by_key_.end() && it->second == std::prev(plans_.end())) by_key_.erase(it);
      plans_.pop_back();
    }
    return plan;
  }

 private:
  using List = std::list<std::pair<std::string, std::shared_ptr<Plan>>>;
  List plans_;
  std::unordered_map<std::string, typename List::iterator> by_key_;
};

struct Plan {
  dnnl::primitive primitive, pack;
  memory::desc a, b, result, scratch, plain, packed;
  int kind = 0;
  bool is_plain = false;
};

int64_t PadAfter(const PenstockDnnConv& c, int d) {
  // Pixels that the last window does not reach are no padding but left out: then this is negative.
  return (c.out[d] - 1) * c.stride[d] + (c.filter[d] - 1) * c.dilation[d] + 1 - c.in[d] - c.pad[d];
}

// True for the convolutions that oneDNN 2.6.3, the version of Debian 12, computes wrongly with this implementation.
// Found by comparing its primitives on each instruction set with plain sums, at the borders of their shapes.
bool Miscomputed(const PenstockDnnConv& c, std::string_view implementation) {
  const auto begins = [&](std::string_view name) { return implementation.starts_with(name); };
  // Forward: a line of windows is computed as one block or two, and the first of two does not look at the padding
  // behind the line. Where that is longer than the second block, pixels behind the image are read.
  if (c.kind == PENSTOCK_DNN_FORWARD && begins("brg")) {
    return c.stride[2] == 1 && c.out[2] > 1 && 2 * std::max(c.pad[2], PadAfter(c, 2)) > c.out[2];
  }
  // Gradient by the input: a kernel of its own for wide filters that cover a line in one window is wrong where rows of
  // windows lie more than one row of pixels apart.
  if (c.kind == PENSTOCK_DNN_INPUT_GRAD && begins("jit:avx512")) {
    return c.out[2] == 1 && c.filter[2] == c.in[2] && c.filter[2] >= 14 && c.filter[2] < 20;
  }
  // Gradient of a filter of three dimensions: wrong, or written outside of the result, if there is padding on both
  // sides of the depth and the first window that starts inside of the image reaches beyond it.
  if (c.kind == PENSTOCK_DNN_FILTER_GRAD && c.spatial == 3 && begins("jit:avx512")) {
    const int64_t first = (c.pad[0] + c.stride[0] - 1) / c.stride[0] * c.stride[0] - c.pad[0];
    return c.pad[0] > 0 && PadAfter(c, 0) > 0 && first + c.filter[0] > c.in[0];
  }
  return false;
}

std::shared_ptr<Plan> MakeConv(const PenstockDnnConv& c) {
  const int s = static_cast<int>(c.spatial), skip = 3 - s;
  const auto f32 = memory::data_type::f32;
  const auto image = [&](const int64_t* spatial, int64_t channels) {
    memory::dims dims = {c.batch, channels};
    for (int i = skip; i < 3; ++i) dims.push_back(spatial[i]);
    return memory::desc(dims, f32, s == 2 ? memory::format_tag::nhwc : memory::format_tag::ndhwc);
  };
  const memory::desc x = image(c.in, c.in_channels), y = image(c.out, c.out_channels);
  // The plain filter, (groups,) out, in, spatial, by strides.
  memory::dims dims, strides, stride, dilation, before, after;
  if (c.groups > 1) dims.push_back(c.groups), strides.push_back(c.out_channels / c.groups);
  dims.push_back(c.out_channels / c.groups), strides.push_back(1);
  dims.push_back(c.in_channels / c.groups), strides.push_back(c.out_channels);
  int64_t step = c.in_channels / c.groups * c.out_channels;
  memory::dims spatial_strides(s);
  for (int i = 2; i >= skip; --i) {
    spatial_strides[i - skip] = step;
    step *= c.filter[i];
  }
  for (int i = skip; i < 3; ++i) {
    dims.push_back(c.filter[i]);
    strides.push_back(spatial_strides[i - skip]);
    stride.push_back(c.stride[i]);
    dilation.push_back(c.dilation[i] - 1);
    before.push_back(c.pad[i]);
    after.push_back(PadAfter(c, i));
  }
  const memory::desc plain(dims, f32, strides), any(dims, f32, memory::format_tag::any);
  auto plan = std::make_shared<Plan>();
  plan->kind = static_cast<int>(c.kind);
  plan->plain = plain;
  const auto algorithm = dnnl::algorithm::convolution_direct;
  const auto set = [&](const auto& description, const auto& made, const memory::desc& a, const memory::desc& b,
                       const memory::desc& result, const memory::desc& filter) {
    const std::string_view implementation = description.impl_info_str();
    if (implementation.find("ref") != std::string_view::npos || Miscomputed(c, implementation)) return false;
    plan->primitive = made;
    plan->a = a, plan->b = b, plan->result = result, plan->packed = filter;
    plan->scratch = description.scratchpad_desc();
    return true;
  };
  const dnnl::convolution_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, algorithm, x, any, y, stride, dilation, before, after}, Attr(), Engine());
  bool found = false;
  if (c.kind == PENSTOCK_DNN_FORWARD) {
    found = set(forward, dnnl::convolution_forward(forward), x, forward.weights_desc(), y, forward.weights_desc());
  } else if (c.kind == PENSTOCK_DNN_INPUT_GRAD) {
    const dnnl::convolution_backward_data::primitive_desc d({algorithm, x, any, y, stride, dilation, before, after},
                                                            Attr(), Engine(), forward);
    found = set(d, dnnl::convolution_backward_data(d), y, d.weights_desc(), x, d.weights_desc());
  } else {
    const dnnl::convolution_backward_weights::primitive_desc d({algorithm, x, any, y, stride, dilation, before, after},
                                                               Attr(), Engine(), forward);
    found = set(d, dnnl::convolution_backward_weights(d), x, y, d.diff_weights_desc(), d.diff_weights_desc());
  }
  if (!found) return nullptr;
  plan->is_plain = plan->packed == plain;
  if (!plan->is_plain) {
    const bool back = c.kind == PENSTOCK_DNN_FILTER_GRAD;
    const memory::desc &from = back ? plan->packed : plain, &to = back ? plain : plan->packed;
    plan->pack = dnnl::reorder(dnnl::reorder::primitive_desc(Engine(), from, Engine(), to));
  }
  return plan;
}

memory Over(const memory::desc& desc, const void* data) { return memory(desc, Engine(), const_cast<void*>(data)); }

// No signal reaches this thread while one lives. oneDNN's generated matrix products use the stack pointer for other
// memory: what the kernel writes there for a signal's handler (Ctrl-C, a timer, a child's end) destroys the heap.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t all;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) sigdelset(&all, fault);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~SignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_;
};

// Runs fn on this thread only; false for any error.
template <class Fn>
bool Guarded(Fn fn) {
  const SignalsHeld held;
  omp_set_num_threads(1);
  try {
    fn();
    return true;
  } catch (...) {
    return false;
  }
}

const std::shared_ptr<Plan>& PlanOf(void* plan) { return *static_cast<std::shared_ptr<Plan>*>(plan); }

void* ConvPlan(const PenstockDnnConv* conv) {
  static PlanCache<Plan>& cache = *new PlanCache<Plan>;  // outlives every thread
  std::shared_ptr<Plan> plan;
  Guarded([&] {
    // What has no fast way is remembered too, as a null plan.
    plan = cache.Get({reinterpret_cast<const char*>(conv), sizeof *conv}, [&]() -> std::shared_ptr<Plan> {
      try {
        return MakeConv(*conv);
      } catch (const dnnl::error&) {
        return nullptr;
      }
    });
  });
  return plan ? new std::shared_ptr<Plan>(plan) : nullptr;
}
void ConvRelease(void* plan) { delete static_cast<std::shared_ptr<Plan>*>(plan); }
size_t ConvPackedBytes(void* plan) {
  const Plan& p = *PlanOf(plan);
  return p.is_plain ? 0 : p.packed.get_size();
}
int Reorder(const Plan& p, const memory::desc& from_desc, const void* from, const memory::desc& to_desc, void* to) {
  return Guarded([&] {
    memory source = Over(from_desc, from), target = Over(to_desc, to);
    p.pack.execute(Stream(), {{DNNL_ARG_FROM, source}, {DNNL_ARG_TO, target}});
  })
             ? 0
             : 1;
}
int ConvPack(void* plan, const void* plain, void* packed) {
  const Plan& p = *PlanOf(plan);
  return Reorder(p, p.plain, plain, p.packed, packed);
}
int ConvUnpack(void* plan, const void* packed, void* plain) {
  const Plan& p = *PlanOf(plan);
  return Reorder(p, p.packed, packed, p.plain, plain);
}
int ConvRun(void* plan, const void* a, const void* b, void* result) {
  const Plan& p = *PlanOf(plan);
  constexpr int kArgs[3][3] = {{DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST},
                               {DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_SRC},
                               {DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS}};
  return Guarded([&] {
    p.primitive.execute(Stream(), {{kArgs[p.kind][0], Over(p.a, a)},
                                   {kArgs[p.kind][1], Over(p.b, b)},
                                   {kArgs[p.kind][2], Over(p.result, result)},
                                   {DNNL_ARG_SCRATCHPAD, Over(p.scratch, Scratch(p.scratch.get_size()))}});
  })
             ? 0
             : 1;
}

int MatMul(int type, int64_t m, int64_t n, int64_t k, const void* a, int64_t lda, int transpose_a, const void* b,
           int64_t ldb, int transpose_b, void* c, int64_t ldc) {
  static PlanCache<Plan>& cache = *new PlanCache<Plan>;
  if (type != 1 && type != 14) return 1;
  if (type == 1) {
    const SignalsHeld held;
    omp_set_num_threads(1);
    return dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', m, n, k, 1.0f, static_cast<const float*>(a),
                      lda, static_cast<const float*>(b), ldb, 0.0f, static_cast<float*>(c), ldc) == dnnl_success
               ? 0
               : 1;
  }
  const int64_t key[] = {m, n, k, lda, transpose_a, ldb, transpose_b, ldc};
  return Guarded([&] {
    const std::shared_ptr<Plan> plan =
        cache.Get({reinterpret_cast<const char*>(key), sizeof key}, [&]() -> std::shared_ptr<Plan> {
          const auto matrix = [](int64_t rows, int64_t columns, int64_t ld, bool transposed) {
            const memory::dims strides = transposed ? memory::dims{1, ld} : memory::dims{ld, 1};
            return memory::desc({rows, columns}, memory::data_type::bf16, strides);
          };
          auto made = std::make_shared<Plan>();
          made->a = matrix(m, k, lda, transpose_a);
          made->b = matrix(k, n, ldb, transpose_b);
          made->result = matrix(m, n, ldc, false);
          const dnnl::matmul::primitive_desc desc(dnnl::matmul::desc(made->a, made->b, made->result), Attr(), Engine());
          made->primitive = dnnl::matmul(desc);
          made->scratch = desc.scratchpad_desc();
          return made;
        });
    plan->primitive.execute(Stream(), {{DNNL_ARG_SRC, Over(plan->a, a)},
                                       {DNNL_ARG_WEIGHTS, Over(plan->b, b)},
                                       {DNNL_ARG_DST, Over(plan->result, c)},
                                       {DNNL_ARG_SCRATCHPAD, Over(plan->scratch, Scratch(plan->scratch.get_size()))}});
  })
             ? 0
             : 1;
}

constexpr PenstockDnnApi kApi = {&ConvPlan, &ConvRelease, &ConvPackedBytes, &ConvPack, &ConvUnpack, &ConvRun, &MatMul};

}  // namespace

extern "C" __attribute__((visibility("default"))) const PenstockDnnApi* penstock_onednn_api_1(void) { return &kApi; }
