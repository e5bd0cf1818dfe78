// gRPC's header values: timeouts, statuses, percent-encoding.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "penstock/base/status.h"

namespace penstock::rpc {

// "1500000u": at most eight digits and a unit. Of the past: "0n".
std::string FormatTimeout(std::chrono::nanoseconds left);
std::optional<std::chrono::nanoseconds> ParseTimeout(std::string_view text);

std::string PercentEncode(std::string_view text);
std::string PercentDecode(std::string_view text);

std::string Base64(std::string_view bytes);                     // without padding
std::optional<std::string> ParseBase64(std::string_view text);  // with or without

// A number of grpc-status as a code; kUnknown for other texts.
Code ParseCode(std::string_view digits);
// The code for an HTTP status other than 200, and for an HTTP/2 error, where there is no grpc-status.
Code CodeOfHttpStatus(std::string_view digits);
Code CodeOfStreamError(uint32_t error);

}  // namespace penstock::rpc
