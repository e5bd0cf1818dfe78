// Example messages written as JSON, in protocol buffers' mapping.
#pragma once

#include <string>
#include <string_view>

namespace penstock {

// The bytes of the Example. InvalidArgument "Error while parsing JSON: ..." where the text is no such message.
std::string ExampleFromJson(std::string_view text);

}  // namespace penstock
