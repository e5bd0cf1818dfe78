// Grayscale dilation and its gradients.
#include <limits>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/compute.h"
#include "penstock/op/shape_inference.h"

namespace penstock {
namespace {

// Sums wrap in integers.
template <class C>
C Add(C a, C b) {
  if constexpr (std::is_integral_v<C>) {
    using U = std::make_unsigned_t<C>;
    return static_cast<C>(static_cast<U>(a) + static_cast<U>(b));
  } else {
    return a + b;
  }
}

class Dilation {
 public:
  explicit Dilation(const NodeView& node) : padding_(node.attr<std::string>("padding")) {
    for (const char* name : {"strides", "rates"}) {
      const auto& values = node.attr<std::vector<int64_t>>(name);
      KernelContext::Require(values.size() == 4, "Sliding window ", name, " field must specify 4 dimensions");
      KernelContext::Require(values[0] == 1 && values[3] == 1, "The ", name,
                             " are only supported across spatial dimensions.");
      for (int i = 0; i < 2; ++i) {
        KernelContext::Require(values[i + 1] >= 1, "The ", name, " must be positive");
        (name[0] == 's' ? stride_ : rate_)[i] = values[i + 1];
      }
    }
  }

 protected:
  struct Sizes {
    int64_t batch, in[2], filter[2], out[2], pad[2], depth;
  };
  Sizes Check(KernelContext& k) const {
    const Shape &in = k.shape(0), &filter = k.shape(1);
    k.Require(in.rank() == 4, "input must be 4-dimensional: ", in);
    k.Require(filter.rank() == 3, "filter must be 3-dimensional: ", filter);
    k.Require(in[3] == filter[2], "input and filter must have the same depth: ", in[3], " vs ", filter[2]);
    Sizes sizes{};
    sizes.batch = in[0], sizes.depth = in[3];
    for (int i = 0; i < 2; ++i) {
      sizes.in[i] = in[i + 1], sizes.filter[i] = filter[i];
      const shapes::Window window = shapes::WindowedOutput(in[i + 1], filter[i], rate_[i], stride_[i], padding_);
      sizes.out[i] = window.out, sizes.pad[i] = window.pad_before;
    }
    return sizes;
  }
  // fn(column of the output, first element of a pixel of the image, first element of the filter) for all that meet in a
  // row of the output, element by element of the filter.
  template <class Fn>
  void ForEachTap(const Sizes& s, int64_t row, const Fn& fn) const {
    for (int64_t i = 0; i < s.filter[0]; ++i) {
      const int64_t y = row * stride_[0] - s.pad[0] + i * rate_[0];
      if (y < 0 || y >= s.in[0]) continue;
      for (int64_t column = 0; column < s.out[1]; ++column) {
        for (int64_t j = 0; j < s.filter[1]; ++j) {
          const int64_t x = column * stride_[1] - s.pad[1] + j * rate_[1];
          if (x < 0 || x >= s.in[1]) continue;
          fn(column, (y * s.in[1] + x) * s.depth, (i * s.filter[1] + j) * s.depth);
        }
      }
    }
  }
  // The pixel of the image, as its first element, under an element of the filter.
  int64_t Under(const Sizes& s, int64_t row, int64_t column, int64_t tap) const {
    const int64_t y = row * stride_[0] - s.pad[0] + tap / s.filter[1] * rate_[0];
    const int64_t x = column * stride_[1] - s.pad[1] + tap % s.filter[1] * rate_[1];
    return (y * s.in[1] + x) * s.depth;
  }

 private:
  std::string padding_;
  int64_t stride_[2] = {1, 1}, rate_[2] = {1, 1};
};

template <class C>
struct Dilation2D : Dilation {
  using Dilation::Dilation;
  void operator()(KernelContext& k) const {
    const Sizes s = Check(k);
    const ComputeInput<C> x(k, k.input(0)), filter(k, k.input(1));
    ComputeOutput<C> y(k, 0, Shape({s.batch, s.out[0], s.out[1], s.depth}));
    const int64_t line = s.out[1] * s.depth, cost = line * std::max<int64_t>(1, s.filter[0] * s.filter[1]) / 4;
    k.Parallel(line ? s.batch * s.out[0] : 0, std::max<int64_t>(1, cost), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const C* image = x.data + r / s.out[0] * s.in[0] * s.in[1] * s.depth;
        C* const to = y.data + r * line;
        std::fill_n(to, line, std::numeric_limits<C>::lowest());
        ForEachTap(s, r % s.out[0], [&](int64_t column, int64_t at, int64_t tap) {
          const C *from = image + at, *add = filter.data + tap;
          C* const greatest = to + column * s.depth;
#pragma GCC ivdep
          for (int64_t c = 0; c < s.depth; ++c) {
            const C value = Add(from[c], add[c]);
            greatest[c] = value > greatest[c] ? value : greatest[c];
          }
        });
      }
    });
    y.Store();
  }
};

template <class C, bool kOfFilter>
struct Dilation2DBackprop : Dilation {
  using Dilation::Dilation;
  void operator()(KernelContext& k) const {
    const Sizes s = Check(k);
    k.Require(k.shape(2) == Shape({s.batch, s.out[0], s.out[1], s.depth}),
              "out_backprop has incompatible size: ", k.shape(2));
    const ComputeInput<C> x(k, k.input(0)), filter(k, k.input(1)), dy(k, k.input(2));
    const Shape shape = k.shape(kOfFilter ? 1 : 0);
    ComputeOutput<C> dx(k, 0, shape);
    std::fill(dx.data, dx.data + shape.num_elements(), C(0));
    const int64_t image = s.in[0] * s.in[1] * s.depth, line = s.out[1] * s.depth;
    // Images are independent of each other, but not in what they add to the filter.
    const int64_t cost = s.out[0] * line * std::max<int64_t>(1, s.filter[0] * s.filter[1]) / 2;
    const int64_t parts = kOfFilter ? 1 : s.batch;
    k.Parallel(parts, std::max<int64_t>(1, cost), [&](int64_t begin, int64_t end) {
      std::vector<C> greatest(line);
      std::vector<int32_t> where(line);  // the element of the filter that gave it; -1: the window sees nothing
      for (int64_t r = s.batch * begin / parts * s.out[0]; r < s.batch * end / parts * s.out[0]; ++r) {
        const int64_t b = r / s.out[0], row = r % s.out[0];
        const C* const from = x.data + b * image;
        std::fill(greatest.begin(), greatest.end(), std::numeric_limits<C>::lowest());
        std::fill(where.begin(), where.end(), -1);
        ForEachTap(s, row, [&](int64_t column, int64_t at, int64_t tap) {
          const C *in = from + at, *add = filter.data + tap;
          C* const best = greatest.data() + column * s.depth;
          int32_t* const of = where.data() + column * s.depth;
          const auto number = static_cast<int32_t>(tap / s.depth);
#pragma GCC ivdep
          for (int64_t c = 0; c < s.depth; ++c) {
            const C value = Add(in[c], add[c]);
            of[c] = value > best[c] || of[c] < 0 ? number : of[c];
            best[c] = value > best[c] ? value : best[c];
          }
        });
        const C* g = dy.data + r * line;
        for (int64_t i = 0; i < line; ++i, ++g) {
          if (where[i] < 0) continue;
          const int64_t tap = where[i], c = i % s.depth;
          C& to = dx.data[kOfFilter ? tap * s.depth + c : b * image + Under(s, row, i / s.depth, tap) + c];
          to = Add(to, *g);
        }
      }
    });
    dx.Store();
  }
};

template <template <class> class K>
void AddAll(KernelRegistry& kernels, const char* op) {
  kernels.Add<K<float>>(op, FloatComputed{});
  kernels.Add<K<double>>(op, Types<double>{});
  kernels.Add<K<int64_t>>(op, Ints{});
}
template <class C>
using BackpropInput = Dilation2DBackprop<C, false>;
template <class C>
using BackpropFilter = Dilation2DBackprop<C, true>;

}  // namespace

namespace PENSTOCK_ISA {
void RegisterDilationKernels(KernelRegistry& kernels) {
  AddAll<Dilation2D>(kernels, "Dilation2D");
  AddAll<BackpropInput>(kernels, "Dilation2DBackpropInput");
  AddAll<BackpropFilter>(kernels, "Dilation2DBackpropFilter");
}
}  // namespace PENSTOCK_ISA

}  // namespace penstock
