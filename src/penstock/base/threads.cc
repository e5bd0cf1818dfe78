#include "penstock/base/threads.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

namespace penstock {
namespace {

// The cores that the CPU quota of this process's control group is worth, rounded up; INT_MAX without one. The group
// that counts is the tightest on the way to the root (Linux: Documentation/admin-guide/cgroup-v2.rst, "cpu.max";
// scheduler/sched-bwc.rst for version 1, whose controllers have folders of their own).
int CoresOfQuota() {
  double cores = INT_MAX;
  const auto read = [&](const std::string& folder, bool v1) {
    std::string quota;
    double period = 0;
    if (v1) {
      std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;
      std::ifstream(folder + "/cpu.cfs_period_us") >> period;
    } else {
      std::ifstream(folder + "/cpu.max") >> quota >> period;
    }
    const double micros = std::atof(quota.c_str());  // "max", "-1" and nothing at all: there is none
    if (micros > 0 && period > 0) cores = std::min(cores, micros / period);
  };
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // ID:CONTROLLERS:PATH, with no controllers for version 2
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const bool v1 = controllers != ",,";
    if (v1 && controllers.find(",cpu,") == std::string::npos) continue;
    const std::string root = v1 ? "/sys/fs/cgroup/cpu" : "/sys/fs/cgroup";
    std::string path = line.substr(second + 1);
    for (;; path.resize(path.rfind('/'))) {
      read(root + path, v1);
      if (path.find('/') == std::string::npos) break;
    }
  }
  return static_cast<int>(std::min<double>(INT_MAX, std::ceil(cores)));
}

}  // namespace

int NumCores() {
  static const int quota = CoresOfQuota();
  cpu_set_t set;
  const bool known = sched_getaffinity(0, sizeof(set), &set) == 0;
  const int cores = known ? CPU_COUNT(&set) : static_cast<int>(std::thread::hardware_concurrency());
  return std::max(1, std::min(cores, quota));
}

bool StackIsShort() {
  // Below this address. Asked for once a thread: for the main thread the C library reads /proc.
  thread_local const uintptr_t short_below = [] {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return uintptr_t{0};
    void* lowest = nullptr;
    size_t size = 0;
    pthread_attr_getstack(&attributes, &lowest, &size);
    pthread_attr_destroy(&attributes);
    return reinterpret_cast<uintptr_t>(lowest) + std::min<size_t>(size / 4, 512 << 10);
  }();
  return reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) < short_below;
}

}  // namespace penstock
