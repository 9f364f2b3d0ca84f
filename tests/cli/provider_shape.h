// How each provider is reached in tests: the variables that hold its key and its address.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>

namespace deputy {

struct ProviderShape {
  std::string provider;
  std::string key_variable;
  std::string address_variable;
  std::string path;  // of the base address
};
inline std::ostream& operator<<(std::ostream& out, const ProviderShape& shape) {
  return out << shape.provider;
}

inline const ProviderShape kCompatibleShape{"compatible", "COMPATIBLE_API_KEY", "DEPUTY_BASE_URL", "/v1"};

inline auto every_shape() {
  return ::testing::Values(ProviderShape{"anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", ""},
                           ProviderShape{"openai", "OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1"},
                           ProviderShape{"openai-chat", "OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1"},
                           ProviderShape{"gemini", "GEMINI_API_KEY", "GEMINI_BASE_URL", ""},
                           ProviderShape{"ollama", "OLLAMA_API_KEY", "OLLAMA_HOST", ""}, kCompatibleShape);
}

inline std::string name_of_shape(const ::testing::TestParamInfo<ProviderShape>& shape) {
  std::string name = shape.param.provider;
  std::erase(name, '-');
  return name;
}

}  // namespace deputy
