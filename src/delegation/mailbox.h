// What has come in for one running session and was not put before its model yet. An item is taken once,
// however often it is put: what the session was told before a restart is known from its conversation.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "agent/conversation.h"
#include "agent/mail.h"
#include "async/waiter.h"
#include "store/letter.h"
#include "transcript/report.h"

namespace deputy {

class Mailbox final : public Mail {
 public:
  // `expects` says whether a child will still have something to say.
  Mailbox(const Conversation& so_far, std::function<bool()> expects);

  void put(Delivered item);
  // It is not to be told, or a call hands it out itself.
  void withdraw(const std::string& item);
  // What is expected may have changed: whoever waits looks again.
  void changed();

  MailState state() const override;
  std::vector<Delivered> take() override;
  Task<> wait(StopToken stop) override;

 private:
  std::function<bool()> expects_;
  std::set<std::string> known_;
  std::vector<Delivered> items_;
  std::vector<Waiter<bool>> waiting_;
};

// What a letter says to a session: the same nudge, however often the letter is acted on.
Nudged nudge_of(const Letter& letter);

// The items as the model reads them, each marked as what it is.
Delivered nudge_mail(const Nudged& nudge);
Delivered report_mail(const Report& report, int run, std::string_view told);
Delivered question_mail(const Question& question);

// A child's question as its parent reads it, in a call's result or by mail.
std::string told_of(const Question& question);

}  // namespace deputy
