// What the dialects have in common when they write a request. Whatever stands in a message,
// what comes out is valid JSON, and the same for the same message.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/dialect.h"

namespace deputy::api {

// A tool's schema without line breaks and tabs, which no string in it can hold: all of it is sent with every
// request. It is not read again for each kind of child: that it is valid is for its tool to see to. What does
// not even stand in braces stands for any arguments at all.
std::string schema_of(const ToolOffer& tool);
// Tools as Chat Completions and Ollama want them, as a member with its comma; empty where there are none.
std::string function_tools(const std::vector<ToolOffer>& tools);
// A call's arguments where an object must stand: as the model wrote them if they are one, else inside one.
std::string as_object(std::string_view arguments);
// These APIs have no field for it: that a call failed is said in the text.
std::string text_of(const ToolResult& result);

// Message::wire names the provider that it came from, so that no other is sent it.
std::string wire_for(std::string_view provider, std::string_view turn);
std::optional<std::string_view> own_wire(const Message& message, std::string_view provider);

HttpRequest post_request(std::string url, const Endpoint& endpoint, std::string_view accept);

}  // namespace deputy::api
