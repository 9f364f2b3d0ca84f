// Environment variables as a value that is passed down. SystemEnvironment is the one place that reads the
// process's own; everything else, tests included, sees a map.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deputy {

class Environment {
 public:
  virtual ~Environment() = default;
  // An empty variable counts as unset.
  virtual std::optional<std::string> get(std::string_view name) const = 0;
  virtual std::vector<std::string> names() const = 0;
};

class SystemEnvironment final : public Environment {
 public:
  std::optional<std::string> get(std::string_view name) const override;
  std::vector<std::string> names() const override;
};

class MapEnvironment final : public Environment {
 public:
  MapEnvironment() = default;
  explicit MapEnvironment(std::map<std::string, std::string, std::less<>> values)
      : values_(std::move(values)) {}
  std::optional<std::string> get(std::string_view name) const override;
  std::vector<std::string> names() const override;
  void set(std::string name, std::string value) { values_[std::move(name)] = std::move(value); }

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace deputy
