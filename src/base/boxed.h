// A value in a place of its own: copied and compared like the value, but as small as a pointer wherever it
// is held. For what is large and is held by many: the alternatives of a variant, what a task yields (each
// frame on the way keeps a place for it).
#pragma once

#include <memory>
#include <utility>

namespace deputy {

template <class T>
class Boxed {
 public:
  Boxed() : value_(std::make_unique<T>()) {}
  Boxed(T value) : value_(std::make_unique<T>(std::move(value))) {}  // NOLINT(google-explicit-constructor)
  Boxed(const Boxed& other) : value_(std::make_unique<T>(*other)) {}
  Boxed& operator=(const Boxed& other) {
    value_ = std::make_unique<T>(*other);
    return *this;
  }
  // One that was moved from can only be assigned to or destroyed.
  Boxed(Boxed&&) noexcept = default;
  Boxed& operator=(Boxed&&) noexcept = default;
  ~Boxed() = default;

  const T& operator*() const& { return *value_; }
  T& operator*() & { return *value_; }
  T&& operator*() && { return std::move(*value_); }
  const T* operator->() const { return value_.get(); }
  T* operator->() { return value_.get(); }
  operator const T&() const { return *value_; }  // NOLINT(google-explicit-constructor)
  bool operator==(const Boxed& other) const { return **this == *other; }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace deputy
