// Waits on the loop until a socket that is another's, libcurl's, can be read or written. For this folder
// only.
#pragma once

#include <curl/curl.h>

#include <functional>
#include <memory>

#include "async/loop.h"

namespace deputy {

class SocketWatch {
 public:
  // CURL_CSELECT_IN, _OUT or _ERR, or 0: the system could not take the socket, so look for yourself. May
  // destroy the watch.
  using Ready = std::function<void(int events)>;

  SocketWatch(SystemLoop& loop, curl_socket_t socket, Ready ready);
  // The socket is given back as it was; `ready` is called no more. Before its owner closes it.
  ~SocketWatch();
  SocketWatch(const SocketWatch&) = delete;

  // CURL_POLL_IN and CURL_POLL_OUT, or neither, until this is called again: as long as the socket is so,
  // `ready` is called once in each turn of the loop.
  void want(int directions);

 private:
  struct State;
  std::shared_ptr<State> state_;  // weak ones wait: only a watch that is still there is told
};

}  // namespace deputy
