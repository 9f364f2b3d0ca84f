// The providers this process can talk to, by name. A model is written provider/name; an unknown one is
// refused by name, never replaced by another.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/provider.h"

namespace deputy {

class Models {
 public:
  void add(std::unique_ptr<Provider> provider);
  // The error says which providers there are.
  Result<Provider*> find(const ModelName& model) const;
  std::vector<std::string> provider_names() const;

 private:
  std::map<std::string, std::unique_ptr<Provider>, std::less<>> providers_;
};

}  // namespace deputy
