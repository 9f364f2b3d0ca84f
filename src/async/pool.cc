#include "async/pool.h"

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

namespace deputy {

struct ThreadPool::State {
  explicit State(unsigned threads) : pool(threads) {}
  boost::asio::thread_pool pool;
};

ThreadPool::ThreadPool(unsigned threads) : state_(std::make_unique<State>(threads)) {}

ThreadPool::~ThreadPool() { state_->pool.join(); }

void ThreadPool::run(std::move_only_function<void()> work) {
  boost::asio::post(state_->pool, std::move(work));
}

}  // namespace deputy
