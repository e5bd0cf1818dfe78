// Tables of the implementations among which a kernel, a pass or a short cut chooses by shape, type, alignment,
// processor or threads. Tests count how often each branch is entered and fail where one never is.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace penstock {

// What all tables have in common. A table is a static object; it is listed when it is first counted.
class Branches {
 public:
  struct Row {
    std::string table, branch;
    uint64_t entered;
  };

  // Off at first: an uncounted Enter reads one flag.
  static void Count(bool on) { counting_.store(on, std::memory_order_relaxed); }
  // Sets the counts of all tables to zero.
  static void Reset();
  // A row for each branch of the tables entered since the process started, in the order in which they were entered.
  static std::vector<Row> Rows();

 protected:
  constexpr Branches(const char* table, size_t size) : table_(table), size_(size) {}
  static bool counting() { return counting_.load(std::memory_order_relaxed); }
  void List(const char* const* names, std::atomic<uint64_t>* counts);

 private:
  static std::atomic<bool> counting_;

  const char* const table_;
  const size_t size_;
  std::atomic<bool> listed_{false};
  const char* const* names_ = nullptr;
  std::atomic<uint64_t>* counts_ = nullptr;
  Branches* next_ = nullptr;
};

// A table of N branches, numbered by an enumeration or by their places:
//   enum class Path { kProduct, kUnrolled };
//   constinit BranchTable<2> paths{"conv/forward", {"product", "unrolled"}};
//   paths.Enter(Path::kProduct);
template <size_t N>
class BranchTable : public Branches {
 public:
  constexpr BranchTable(const char* table, std::array<const char*, N> names) : Branches(table, N), names_(names) {}

  template <class Branch>
  void Enter(Branch branch) {
    if (!counting()) [[likely]]
      return;
    List(names_.data(), counts_.data());
    counts_[static_cast<size_t>(branch)].fetch_add(1, std::memory_order_relaxed);
  }

 private:
  std::array<const char*, N> names_;
  std::array<std::atomic<uint64_t>, N> counts_{};
};

}  // namespace penstock
