// What was run, on what, how long it took and what came of it, for machines.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pointmap/export.h"
#include "pointmap/pointmap.h"

namespace pointmap {

// JSON, one object: versions, model, settings, stages with milliseconds that sum to total_ms, memory, views, files.
std::string report_json(const ModelInfo& model, const Reconstruction& run, const std::vector<ExportedFile>& files);

// Writes report_json to folder/report.json in one step. Throws Error{kIoError, kNotFound} naming the path.
void write_report(const std::string& json, const std::filesystem::path& folder);

}  // namespace pointmap
