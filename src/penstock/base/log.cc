#include "penstock/base/log.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <thread>

namespace penstock {
namespace {

using Clock = std::chrono::steady_clock;

void WriteLine(const std::string& line) {
  // One write for each line, so that lines of several threads do not mix.
  if (::write(STDERR_FILENO, line.data(), line.size()) < 0) return;
}

}  // namespace

uint32_t ParseLogSubjects(std::string_view list, std::string* unknown) {
  uint32_t on = 0;
  while (!list.empty()) {
    const size_t comma = list.find(',');
    const std::string_view name = list.substr(0, comma);
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
    const auto* found = std::find(std::begin(kLogSubjects), std::end(kLogSubjects), name);
    if (name == "all") {
      on |= (uint32_t{1} << std::size(kLogSubjects)) - 1;
    } else if (found != std::end(kLogSubjects)) {
      on |= uint32_t{1} << (found - std::begin(kLogSubjects));
    } else if (!name.empty()) {
      *unknown += StrCat(unknown->empty() ? "" : ", ", name);
    }
  }
  return on;
}

uint32_t log_internal::ReadSubjects() {
  const char* list = std::getenv("PENSTOCK_LOG");
  std::string unknown;
  const uint32_t on = list ? ParseLogSubjects(list, &unknown) : 0;
  uint32_t before = kUnread;
  if (subjects.compare_exchange_strong(before, on, std::memory_order_relaxed) && !unknown.empty()) {
    std::string line = StrCat("PENSTOCK_LOG: no subject ", unknown, "; subjects are all");
    for (const std::string_view name : kLogSubjects) line += StrCat(", ", name);
    WriteLine(line + "\n");
  }
  return on;
}

void WriteLog(LogSubject subject, std::string_view message) {
  static const Clock::time_point start = Clock::now();
  const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count();
  const size_t thread = std::hash<std::thread::id>()(std::this_thread::get_id()) % 10000;
  WriteLine(
      StrCat("[", kLogSubjects[static_cast<int>(subject)], " ", micros, " us, thread ", thread, "] ", message, "\n"));
}

}  // namespace penstock
