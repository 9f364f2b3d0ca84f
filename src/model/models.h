// The providers this process can talk to, by name. A model is written provider/name, or by its name alone
// where the catalogue knows whose it is; an unknown one is refused by name, never replaced by another.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/catalog.h"
#include "model/provider.h"

namespace deputy {

class Models {
 public:
  Models() = default;
  explicit Models(Catalog catalog) : catalog_(std::move(catalog)) {}

  void add(std::unique_ptr<Provider> provider);
  // A provider whose every model is one of its own, such as a script: made from what stands behind the
  // provider's name when it is first asked for. What could not be made is tried again.
  using Maker = std::function<Result<std::unique_ptr<Provider>>(std::string_view rest)>;
  void add_maker(std::string provider, Maker maker);
  // What plays a profile in place of a model. No model name leads to it.
  void add_driver(std::unique_ptr<Provider> driver);

  // The error says which providers there are, or which known model is near.
  Result<Provider*> find(const ModelName& model) const;
  Result<Provider*> driver(std::string_view name) const;
  std::vector<std::string> provider_names() const;
  const Catalog& catalog() const { return catalog_; }

 private:
  Result<Provider*> made(std::string_view model, const Maker& maker) const;

  using ByName = std::map<std::string, std::unique_ptr<Provider>, std::less<>>;
  Catalog catalog_;
  ByName providers_;
  std::map<std::string, Maker, std::less<>> makers_;
  mutable ByName made_;  // by the whole name of the model
  ByName drivers_;
};

// The error for a model that cannot be had, with what may have been meant. `providers` are those there are.
Error unknown_model(std::string_view model, const std::vector<std::string>& providers,
                    const Catalog& catalog);

}  // namespace deputy
