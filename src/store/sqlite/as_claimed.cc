#include "store/sqlite/as_claimed.h"

#include <utility>

namespace deputy {

void AsClaimed::keep(std::shared_ptr<const Claimed> claimed) {
  const Session& session = claimed->session;
  if (session.delegation) children_.insert_or_assign(*session.delegation, session.id);
  kept_.insert_or_assign(session.id, std::move(claimed));
}

void AsClaimed::forget(const SessionId& session) {
  const auto found = kept_.find(session);
  if (found == kept_.end()) return;
  if (const auto& key = found->second->session.delegation) children_.erase(*key);
  kept_.erase(found);
}

void AsClaimed::forget_tree(const SessionId& tree) {
  std::erase_if(kept_, [&](const auto& each) {
    const Session& session = each.second->session;
    if (session.tree != tree) return false;
    if (session.delegation) children_.erase(*session.delegation);
    return true;
  });
}

const Session* AsClaimed::session(const SessionId& id) const {
  const auto found = kept_.find(id);
  return found == kept_.end() ? nullptr : &found->second->session;
}

const Session* AsClaimed::child_of(const DelegationKey& key) const {
  const auto found = children_.find(key);
  return found == children_.end() ? nullptr : session(found->second);
}

const std::vector<Event>* AsClaimed::events_of(const SessionId& session) const {
  const auto found = kept_.find(session);
  return found == kept_.end() ? nullptr : &found->second->events;
}

}  // namespace deputy
