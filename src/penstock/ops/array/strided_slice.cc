#include "penstock/ops/array/strided_slice.h"

#include <algorithm>

#include "penstock/base/status.h"

namespace penstock {

namespace {

int64_t Mask(const AttrMap& attrs, std::string_view name) {
  const AttrValue* value = attrs.Find(name);
  const int64_t* mask = value ? value->If<int64_t>() : nullptr;
  return mask ? *mask : 0;
}

constexpr int kNewAxis = -1, kShrunk = -2;

// The specification with the ellipsis spelt out: one entry for each dimension of the input.
struct Dense {
  std::vector<int64_t> begin, end, stride;
  std::vector<bool> begin_masked, end_masked, shrunk;
  std::vector<int> gather;  // dimensions of the result: an input dimension, kNewAxis or kShrunk
};

Dense Expand(const SliceMasks& masks, int rank, int spec, const std::vector<int64_t>* begin,
             const std::vector<int64_t>* end, const std::vector<int64_t>& strides) {
  int64_t ellipsis = masks.ellipsis;
  if (ellipsis & (ellipsis - 1)) throw InvalidArgument("Multiple ellipses in slice spec not allowed");
  int new_axes_after = 0;
  bool seen = false;
  for (int i = 0; i < spec; ++i) {
    if (seen && (masks.new_axis >> i & 1)) ++new_axes_after;
    if (ellipsis >> i & 1) seen = true;
  }
  int entries = spec;
  if (!seen) ellipsis = int64_t{1} << entries++;

  Dense d;
  d.begin.assign(rank, 0);
  d.end.assign(rank, 0);
  d.stride.assign(rank, 1);
  d.begin_masked.assign(rank, false);
  d.end_masked.assign(rank, false);
  d.shrunk.assign(rank, false);
  int at = 0;
  for (int i = 0; i < entries; ++i) {
    if (ellipsis >> i & 1) {
      const int next = std::min(rank - (entries - i) + 1 + new_axes_after, rank);
      for (; at < next; ++at) {
        d.begin_masked[at] = d.end_masked[at] = true;
        d.gather.push_back(at);
      }
    } else if (masks.new_axis >> i & 1) {
      d.gather.push_back(kNewAxis);
    } else {
      if (at == rank) {
        if (rank == 0) throw InvalidArgument("Attempting to slice scalar input. Index out of range using input dim 0");
        throw InvalidArgument("Index out of range using input dim ", at, "; input has only ", rank, " dims");
      }
      if (begin) d.begin[at] = (*begin)[i];
      if (end) d.end[at] = (*end)[i];
      d.stride[at] = strides[i];
      d.begin_masked[at] = masks.begin >> i & 1;
      d.end_masked[at] = masks.end >> i & 1;
      d.shrunk[at] = masks.shrink_axis >> i & 1;
      d.gather.push_back(d.shrunk[at] ? kShrunk : at);
      ++at;
    }
  }
  return d;
}

}  // namespace

SliceMasks::SliceMasks(const AttrMap& attrs)
    : begin(Mask(attrs, "begin_mask")),
      end(Mask(attrs, "end_mask")),
      ellipsis(Mask(attrs, "ellipsis_mask")),
      new_axis(Mask(attrs, "new_axis_mask")),
      shrink_axis(Mask(attrs, "shrink_axis_mask")) {}

AttrMap SliceMasks::Attrs() const {
  return {{"begin_mask", begin},
          {"end_mask", end},
          {"ellipsis_mask", ellipsis},
          {"new_axis_mask", new_axis},
          {"shrink_axis_mask", shrink_axis}};
}

SlicePlan PlanSlice(const SliceMasks& masks, const PartialShape& input, int spec, const std::vector<int64_t>* begin,
                    const std::vector<int64_t>* end, const std::vector<int64_t>& strides) {
  if (spec > 32) throw InvalidArgument("Expected at most 32 begin, end and strides, but got ", spec);
  const int rank = input.rank();
  const Dense d = Expand(masks, rank, spec, begin, end, strides);

  SlicePlan plan;
  plan.begin.resize(rank);
  plan.stride = d.stride;
  plan.size.resize(rank);
  for (int i = 0; i < rank; ++i) {
    const int64_t dim = input[i], stride = d.stride[i];
    if (stride == 0) throw InvalidArgument("strides[", i, "] must be non-zero");
    const bool shrunk = d.shrunk[i];
    if (shrunk && stride < 0) throw InvalidArgument("only stride 1 allowed on non-range indexing.");
    if (dim < 0) {
      plan.size[i] = shrunk ? 1 : -1;
      plan.whole = plan.dim0_range = false;
      continue;
    }
    const bool masked = d.begin_masked[i] && d.end_masked[i];
    int64_t first = 0, last = 0;
    bool known = true;
    if (shrunk && begin && !d.begin_masked[i]) {
      first = d.begin[i] < 0 ? d.begin[i] + dim : d.begin[i];
      last = first + 1;
      if (first < 0 || first >= dim) {
        throw InvalidArgument("slice index ", d.begin[i], " of dimension ", i, " out of bounds.");
      }
    } else if (shrunk && begin) {  // a masked begin counts as 0 here
      first = 0;
      last = 1;
      if (dim < 1) throw InvalidArgument("slice index ", d.begin[i], " of dimension ", i, " out of bounds.");
    } else if (shrunk) {
      last = 1;
    } else {
      const int64_t low = stride > 0 ? 0 : -1, high = stride > 0 ? dim : dim - 1;
      auto bound = [&](int64_t x) { return std::clamp(x < 0 ? x + dim : x, low, high); };
      known = masked || (begin && end);
      first = d.begin_masked[i] ? (stride > 0 ? low : high) : bound(d.begin[i]);
      last = d.end_masked[i] ? (stride > 0 ? high : low) : bound(d.end[i]);
    }
    plan.begin[i] = first;
    if (!known) {
      plan.size[i] = -1;
      plan.whole = plan.dim0_range = false;
      continue;
    }
    const int64_t length = last - first;
    plan.size[i] = length == 0 || (length < 0) != (stride < 0) ? 0 : length / stride + (length % stride != 0);
    if (plan.size[i] != dim || (stride != 1 && dim > 1)) {
      plan.whole = false;
      if (i > 0 || (stride != 1 && plan.size[i] > 1)) plan.dim0_range = false;
    }
  }

  std::vector<int64_t> dims;
  plan.result_dim.assign(rank, -1);
  for (int g : d.gather) {
    if (g >= 0) {
      plan.result_dim[g] = static_cast<int>(dims.size());
      dims.push_back(plan.size[g]);
    } else if (g == kNewAxis) {
      dims.push_back(1);
    }
  }
  plan.result = PartialShape(std::move(dims));
  return plan;
}

}  // namespace penstock
