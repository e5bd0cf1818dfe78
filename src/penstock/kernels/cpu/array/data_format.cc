// Dimensions and vectors of sizes, said in one layout of images and wanted in another.
#include <algorithm>

#include "penstock/kernel/kernel_registry.h"

namespace penstock {
namespace {

// The places in `to` of the characters of `from`. InvalidArgument unless one is a permutation of the other.
std::vector<int64_t> PlacesIn(const std::string& from, const std::string& to) {
  std::vector<int64_t> places;
  for (const char c : from) {
    const size_t at = to.find(c);
    if (from.size() != to.size() || at == std::string::npos || to.find(c, at + 1) != std::string::npos ||
        std::ranges::count(from, c) != 1) {
      throw InvalidArgument("Destination and source format must determine a permutation, got ", from, " and ", to);
    }
    places.push_back(static_cast<int64_t>(at));
  }
  return places;
}

struct Formats {
  std::string from, to;
  std::vector<int64_t> places;

  explicit Formats(const NodeView& node)
      : from(node.attr<std::string>("src_format")), to(node.attr<std::string>("dst_format")) {
    for (const auto& [what, format] : {std::pair{"Source", &from}, std::pair{"Destination", &to}}) {
      if (format->size() == 4 || format->size() == 5) continue;
      throw InvalidArgument(what, " format must be of length 4 or 5, received ", format == &from ? "src" : "dst",
                            "_format = ", *format);
    }
    places = PlacesIn(from, to);
  }
};

template <class T>
struct DataFormatDimMap : Formats {
  using Formats::Formats;
  void operator()(KernelContext& k) const {
    const int64_t rank = static_cast<int64_t>(places.size());
    const auto x = k.in<T>(0);
    const auto y = k.out<T>(0, k.shape(0));
    for (size_t i = 0; i < x.size(); ++i) y[i] = static_cast<T>(places[((x[i] % rank) + rank) % rank]);
  }
};

template <class T>
struct DataFormatVecPermute : Formats {
  using Formats::Formats;
  void operator()(KernelContext& k) const {
    const Shape shape = k.shape(0);
    const int64_t all = static_cast<int64_t>(places.size()), spatial = all - 2;
    k.Require(shape.rank() == 1 || shape.rank() == 2, "input must be a vector or 2D tensor, but got shape ", shape);
    k.Require(shape.dim(0) == all || shape.dim(0) == spatial,
              shape.rank() == 1 ? "1D input" : "First dimension of 2D input", " must be of size ", spatial, " or ", all,
              ", but got shape ", shape);
    k.Require(shape.rank() == 1 || shape.dim(1) == 2, "Second dimension of 2D input must be of size 2, but got shape ",
              shape);
    const std::vector<int64_t> order = shape.dim(0) == all ? places : SpatialPlaces(spatial);
    const int64_t width = shape.rank() == 2 ? 2 : 1;
    const auto x = k.in<T>(0);
    const auto y = k.out<T>(0, shape);
    for (size_t i = 0; i < order.size(); ++i) std::copy_n(&x[i * width], width, &y[order[i] * width]);
  }

 private:
  std::vector<int64_t> SpatialPlaces(int64_t spatial) const {
    const auto only_spatial = [&](std::string format) {
      std::erase_if(format, [&](char c) { return c != 'H' && c != 'W' && (spatial == 2 || c != 'D'); });
      return format;
    };
    const std::string here = only_spatial(from), there = only_spatial(to);
    KernelContext::Require(static_cast<int64_t>(here.size()) == spatial, "Format specifier must contain H and W",
                           spatial == 2 ? "" : " and D", " for inputs of ", spatial, " sizes, got ", from, " and ", to);
    return PlacesIn(here, there);
  }
};

}  // namespace

void RegisterDataFormatKernels(KernelRegistry& kernels) {
  kernels.Add<DataFormatDimMap>("DataFormatDimMap", Types<int32_t, int64_t>{});
  kernels.Add<DataFormatVecPermute>("DataFormatVecPermute", Types<int32_t, int64_t>{});
}

}  // namespace penstock
