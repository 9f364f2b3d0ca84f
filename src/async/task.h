// Task<T>: a coroutine on the event loop that yields a T. Parameters by value; no capturing lambda as a
// coroutine. Cancellation never arrives as an exception: every waiting call takes a StopToken and returns
// early.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

namespace deputy {

using Executor = boost::asio::any_io_executor;

template <class T = void>
using Task = boost::asio::awaitable<T>;

}  // namespace deputy
