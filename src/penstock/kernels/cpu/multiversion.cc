// Families of kernels that exist once for each of two instruction sets (multiversion/*.cc): which copy this machine
// takes.
#include <string_view>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/linalg/lapack.h"
#include "penstock/kernels/cpu/loops.h"

namespace penstock {

#if defined(__x86_64__)
#define PENSTOCK_MULTIVERSION(family)                                                            \
  namespace baseline {                                                                           \
  void Register##family##Kernels(KernelRegistry& kernels);                                       \
  }                                                                                              \
  namespace avx2 {                                                                               \
  void Register##family##Kernels(KernelRegistry& kernels);                                       \
  }                                                                                              \
  void Register##family##Kernels(KernelRegistry& kernels) {                                      \
    const bool has_avx2 = std::string_view(CpuLoops().isa) != "baseline";                        \
    (has_avx2 ? avx2::Register##family##Kernels : baseline::Register##family##Kernels)(kernels); \
  }
#else
#define PENSTOCK_MULTIVERSION(family)                      \
  namespace baseline {                                     \
  void Register##family##Kernels(KernelRegistry& kernels); \
  }                                                        \
  void Register##family##Kernels(KernelRegistry& kernels) { baseline::Register##family##Kernels(kernels); }
#endif

PENSTOCK_MULTIVERSION(Dilation)
PENSTOCK_MULTIVERSION(ImageColor)
PENSTOCK_MULTIVERSION(ImageCrop)
PENSTOCK_MULTIVERSION(Linalg)
PENSTOCK_MULTIVERSION(Resize)
#undef PENSTOCK_MULTIVERSION

namespace baseline {
const linalg::AllBlasLoops& BlasLoops();
}
#if defined(__x86_64__)
namespace avx2 {
const linalg::AllBlasLoops& BlasLoops();
}
const linalg::AllBlasLoops& linalg::BlasLoopsOfMachine() {
  return std::string_view(CpuLoops().isa) != "baseline" ? avx2::BlasLoops() : baseline::BlasLoops();
}
#else
const linalg::AllBlasLoops& linalg::BlasLoopsOfMachine() { return baseline::BlasLoops(); }
#endif

}  // namespace penstock
