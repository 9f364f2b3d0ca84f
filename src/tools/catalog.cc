#include "tools/catalog.h"

#include "tools/edit.h"
#include "tools/glob.h"
#include "tools/grep.h"
#include "tools/list.h"
#include "tools/note.h"
#include "tools/notebook_edit.h"
#include "tools/read.h"
#include "tools/write.h"

namespace deputy {

std::vector<std::shared_ptr<Tool>> builtin_tools() {
  return {std::make_shared<ReadTool>(),  std::make_shared<GrepTool>(),        std::make_shared<GlobTool>(),
          std::make_shared<ListTool>(),  std::make_shared<NoteTool>(),        std::make_shared<EditTool>(),
          std::make_shared<WriteTool>(), std::make_shared<NotebookEditTool>()};
}

}  // namespace deputy
