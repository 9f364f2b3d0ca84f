// What a person reads first: the model and the folder; where nothing is set up yet, what was found, what can
// be tried as it is, and how to set up a model. Lines that fit the screen.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/model_choice.h"
#include "transcript/session.h"
#include "tui/line.h"

namespace deputy {

enum class ModelWasNamed { no, yes };  // by a flag or a setting

// How wide a line may be on the terminal that stdout is.
std::size_t columns_of_screen();

// Command lines as who reads them can type them (app/failure.h).
using AsTyped = std::function<std::string(std::string_view)>;

std::vector<Line> welcome_lines(const ModelName& model, const ModelOffer& offer, std::string_view workspace,
                                ModelWasNamed named, const AsTyped& as_typed,
                                std::size_t columns = columns_of_screen());

// What was left unfinished, and how to go on with it; nothing where nothing was. Newest first.
enum class ReadIn { chat, shell };
std::vector<Line> unfinished_lines(const std::vector<Session>& roots, ReadIn where,
                                   std::size_t columns = columns_of_screen());

}  // namespace deputy
