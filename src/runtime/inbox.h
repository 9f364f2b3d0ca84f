// Acts on the letters that other processes have left for a tree. A letter is discarded only once what it asks
// for stands in the journal, or cannot be done any more: a crash in between makes it act again, which is
// harmless.
#pragma once

#include "async/loop.h"
#include "delegation/question_desk.h"
#include "delegation/tree.h"
#include "runtime/bell.h"
#include "store/store.h"

namespace deputy {

class Inbox {
 public:
  Inbox(Store& store, Tree& tree, QuestionDesk& desk) : store_(store), tree_(tree), desk_(desk) {}
  // Looks every so often while there is something to see to, and else when the bell has rung, or has been
  // silent for long, until stopped.
  // Without a bell only looking tells.
  Task<> watch(Loop& loop, Duration every, Bell* bell, StopToken stop);
  // Whether a letter has yet to do its work.
  Task<bool> look();

 private:
  // Whether the letter has done its work.
  Task<bool> act_on(Letter letter);
  void answer(const Letter& letter);

  Store& store_;
  Tree& tree_;
  QuestionDesk& desk_;
};

}  // namespace deputy
