// Messages about chosen subjects on stderr. PENSTOCK_LOG names the subjects: PENSTOCK_LOG=placer,compile; `all` is
// every one of them. While none is named a call reads one word.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/base/strings.h"

namespace penstock {

enum class LogSubject : uint8_t { kCompile, kEager, kExecutor, kFunction, kOptimize, kPlacer };
inline constexpr std::string_view kLogSubjects[] = {"compile", "eager", "executor", "function", "optimize", "placer"};

namespace log_internal {
// Bit i: subject i is on. All bits are set until the first call of LogOn has read the environment.
inline constexpr uint32_t kUnread = ~uint32_t{0};
inline constinit std::atomic<uint32_t> subjects{kUnread};
uint32_t ReadSubjects();
}  // namespace log_internal

// The subjects that a list such as "placer,compile" names, as bits; unknown names are added to `unknown`.
uint32_t ParseLogSubjects(std::string_view list, std::string* unknown);

// Whether the subject is on. Code that computes a message guards it with this.
inline bool LogOn(LogSubject subject) {
  uint32_t on = log_internal::subjects.load(std::memory_order_relaxed);
  if (on == 0) [[likely]]
    return false;
  if (on == log_internal::kUnread) on = log_internal::ReadSubjects();
  return on >> static_cast<int>(subject) & 1;
}

// Writes one line: the subject, the time since the first message, the thread and the message.
void WriteLog(LogSubject subject, std::string_view message);

template <class... Args>
void Log(LogSubject subject, const Args&... args) {
  if (LogOn(subject)) WriteLog(subject, StrCat(args...));
}

}  // namespace penstock
