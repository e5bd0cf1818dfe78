#include "penstock/tensor/buffer.h"

#include <cstdlib>
#include <string_view>

#include "penstock/base/status.h"
#include "penstock/tensor/caching_allocator.h"
#include "penstock/tensor/guarded_allocator.h"
#include "penstock/tensor/resource_handle.h"
#include "penstock/tensor/tstring.h"
#include "penstock/tensor/variant.h"

namespace penstock {
namespace {

class PodBuffer final : public Buffer {
 public:
  PodBuffer(size_t size, Allocator* allocator) : Buffer(allocator->Allocate(size), size), allocator_(allocator) {}
  ~PodBuffer() override { allocator_->Free(data(), size()); }

 private:
  Allocator* allocator_;
};

template <class T>
class ObjectBuffer final : public Buffer {
 public:
  explicit ObjectBuffer(int64_t n) : Buffer(new T[n], n * sizeof(T)) {}
  ~ObjectBuffer() override { delete[] static_cast<T*>(data()); }
};

class BorrowedBuffer final : public Buffer {
 public:
  BorrowedBuffer(void* data, size_t size, std::function<void()> release)
      : Buffer(data, size, /*borrowed=*/true), release_(std::move(release)) {}
  ~BorrowedBuffer() override { release_(); }

 private:
  std::function<void()> release_;
};

}  // namespace

Allocator* CpuAllocator() {
  static Allocator* const allocator = []() -> Allocator* {
    const char* guard = std::getenv("PENSTOCK_GUARD_MEMORY");
    if (guard && std::string_view(guard) == "1") return GuardedAllocator();
    return CachingAllocator();
  }();
  return allocator;
}

Ref<Buffer> AllocateBuffer(DataType dtype, int64_t elements, Allocator* allocator) {
  size_t bytes;
  if (__builtin_mul_overflow(static_cast<size_t>(elements), DataTypeSize(dtype), &bytes) || bytes > size_t{1} << 46) {
    throw ResourceExhausted("OOM when allocating a tensor of ", elements, " elements of type ", ToString(dtype));
  }
  switch (dtype) {
    case DT_STRING: return MakeRef<ObjectBuffer<TString>>(elements);
    case DT_RESOURCE: return MakeRef<ObjectBuffer<ResourceHandle>>(elements);
    case DT_VARIANT: return MakeRef<ObjectBuffer<Variant>>(elements);
    default: return MakeRef<PodBuffer>(bytes, allocator);
  }
}

Ref<Buffer> BorrowBuffer(void* data, size_t size, std::function<void()> release) {
  return MakeRef<BorrowedBuffer>(data, size, std::move(release));
}

}  // namespace penstock
