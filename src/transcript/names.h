// The spelling of every enumeration of transcript/, for its codecs alone.
#pragma once

#include "base/enum_names.h"
#include "transcript/message.h"
#include "transcript/question.h"
#include "transcript/reply.h"
#include "transcript/report.h"
#include "transcript/session.h"

namespace deputy {

inline constexpr EnumNames<Role, 3> kRoles{
    {{Role::user, "user"}, {Role::assistant, "assistant"}, {Role::tool, "tool"}}};
inline constexpr EnumNames<Source, 4> kSources{{{Source::person, "person"},
                                                {Source::parent, "parent"},
                                                {Source::child, "child"},
                                                {Source::runtime, "runtime"}}};
inline constexpr EnumNames<ReplyStop, 11> kReplyStops{{{ReplyStop::finished, "finished"},
                                                       {ReplyStop::calls, "calls"},
                                                       {ReplyStop::paused, "paused"},
                                                       {ReplyStop::output_limit, "output_limit"},
                                                       {ReplyStop::context_exhausted, "context_exhausted"},
                                                       {ReplyStop::refused, "refused"},
                                                       {ReplyStop::failed, "failed"},
                                                       {ReplyStop::stalled, "stalled"},
                                                       {ReplyStop::no_key, "no_key"},
                                                       {ReplyStop::over_budget, "over_budget"},
                                                       {ReplyStop::stopped, "stopped"}}};
inline constexpr EnumNames<Status, 5> kStatuses{{{Status::completed, "completed"},
                                                 {Status::partial, "partial"},
                                                 {Status::failed, "failed"},
                                                 {Status::blocked, "blocked"},
                                                 {Status::cancelled, "cancelled"}}};
inline constexpr EnumNames<Reason, 19> kReasons{{{Reason::none, "none"},
                                                 {Reason::context_exhausted, "context_exhausted"},
                                                 {Reason::output_limit, "output_limit"},
                                                 {Reason::timeout, "timeout"},
                                                 {Reason::stalled, "stalled"},
                                                 {Reason::max_turns, "max_turns"},
                                                 {Reason::budget, "budget"},
                                                 {Reason::repetition, "repetition"},
                                                 {Reason::no_text, "no_text"},
                                                 {Reason::invalid_report, "invalid_report"},
                                                 {Reason::provider_error, "provider_error"},
                                                 {Reason::no_api_key, "no_api_key"},
                                                 {Reason::denied, "denied"},
                                                 {Reason::question_unanswered, "question_unanswered"},
                                                 {Reason::cancelled_by_user, "cancelled_by_user"},
                                                 {Reason::cancelled_by_parent, "cancelled_by_parent"},
                                                 {Reason::parent_stopped, "parent_stopped"},
                                                 {Reason::internal, "internal"},
                                                 {Reason::reported, "reported"}}};
inline constexpr EnumNames<SessionState, 9> kSessionStates{{{SessionState::pending, "pending"},
                                                            {SessionState::running, "running"},
                                                            {SessionState::waiting, "waiting"},
                                                            {SessionState::interrupted, "interrupted"},
                                                            {SessionState::completed, "completed"},
                                                            {SessionState::partial, "partial"},
                                                            {SessionState::failed, "failed"},
                                                            {SessionState::blocked, "blocked"},
                                                            {SessionState::cancelled, "cancelled"}}};
inline constexpr EnumNames<WorkspaceMode, 4> kWorkspaceModes{{{WorkspaceMode::read_only, "read_only"},
                                                              {WorkspaceMode::scratch, "scratch"},
                                                              {WorkspaceMode::worktree, "worktree"},
                                                              {WorkspaceMode::shared, "shared"}}};
inline constexpr EnumNames<WorkKind, 4> kWorkKinds{{{WorkKind::simple, "simple"},
                                                    {WorkKind::research, "research"},
                                                    {WorkKind::planning, "planning"},
                                                    {WorkKind::implementation, "implementation"}}};
inline constexpr EnumNames<QuestionKind, 3> kQuestionKinds{{{QuestionKind::permission, "permission"},
                                                            {QuestionKind::to_parent, "to_parent"},
                                                            {QuestionKind::to_person, "to_person"}}};
inline constexpr EnumNames<AnswerKind, 4> kAnswerKinds{{{AnswerKind::approved, "approved"},
                                                        {AnswerKind::refused, "refused"},
                                                        {AnswerKind::text, "text"},
                                                        {AnswerKind::nobody, "nobody"}}};
inline constexpr EnumNames<ToolStatus, 2> kToolStatuses{
    {{ToolStatus::ok, "ok"}, {ToolStatus::error, "error"}}};

}  // namespace deputy
