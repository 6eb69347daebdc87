// pointmap serve: the HTTP server.
#include "apps/server/serve.h"

#include <malloc.h>

#include <iostream>
#include <memory>

#include "commands.h"
#include "run_options.h"

namespace pointmap::cli {
namespace {

struct Arguments {
  std::vector<std::string> models;
  server::ServerOptions options;
  double request_timeout_s = 600;
  double drain_timeout_s = 30;
  double client_timeout_s = 10;
  int64_t results_ttl_s = 3600;
  bool quiet = false;
};

// glibc gives each of our many threads a heap of its own, and keeps in each what large requests once took: memory would grow with the
// number of threads that have seen one. A few heaps are enough for threads that mostly wait.
void share_heaps() {
#ifdef M_ARENA_MAX
  ::mallopt(M_ARENA_MAX, 4);
#endif
}

int run_serve(const Arguments& arguments, const CancelFlag& stop) {
  share_heaps();
  server::ServerOptions options = arguments.options;
  std::vector<std::string> models = arguments.models;
  if (models.empty()) models.push_back(model_or_default("", /*quiet=*/false));
  for (const std::string& text : models) options.models.push_back(server::parse_model_choice(text));
  options.request_timeout = std::chrono::milliseconds(static_cast<int64_t>(1000 * arguments.request_timeout_s));
  options.drain_timeout = std::chrono::milliseconds(static_cast<int64_t>(1000 * arguments.drain_timeout_s));
  options.client_timeout = std::chrono::milliseconds(static_cast<int64_t>(1000 * arguments.client_timeout_s));
  options.results_ttl = std::chrono::seconds(arguments.results_ttl_s);
  return server::serve(options, stop, std::cerr);
}

void add_work_options(CLI::App& command, Arguments& arguments) {
  server::ServerOptions& options = arguments.options;
  add_threads_option(command, options.num_threads);
  command.get_option("--threads")->envname("POINTMAP_THREADS");
  command.add_option("--memory-limit", options.memory_limit_bytes, "Refuse work that needs more bytes than this (8G, 500M)")
      ->transform(CLI::AsSizeValue(false))
      ->envname("POINTMAP_MEMORY_LIMIT");
  command.add_option("--queue", options.queue_length, "Jobs that may wait beside the one that runs; more are answered 503")
      ->check(CLI::Range(0, 10'000))
      ->envname("POINTMAP_QUEUE")
      ->capture_default_str();
  command
      .add_option("--jobs-per-client", options.jobs_per_client, "Unfinished jobs of one key or address; more are answered 429; 0: no limit")
      ->check(CLI::Range(0, 10'000))
      ->envname("POINTMAP_JOBS_PER_CLIENT")
      ->capture_default_str();
  command.add_option("--request-timeout", arguments.request_timeout_s, "Seconds that a request may wait and run")
      ->check(CLI::Range(0.1, 86'400.0))
      ->envname("POINTMAP_REQUEST_TIMEOUT")
      ->capture_default_str();
  command.add_option("--drain-timeout", arguments.drain_timeout_s, "Seconds after SIGTERM before unfinished work is cancelled; 0: at once")
      ->check(CLI::Range(0.0, 86'400.0))
      ->envname("POINTMAP_DRAIN_TIMEOUT")
      ->capture_default_str();
  command.add_flag("--warm-up,!--no-warm-up", options.warm_up, "Run each model once before saying ready")
      ->envname("POINTMAP_WARM_UP")
      ->default_str("on");
}

void add_limit_options(CLI::App& command, server::ServerOptions& options) {
  command.add_option("--max-body", options.max_body_bytes, "Largest request (64M)")
      ->transform(CLI::AsSizeValue(false))
      ->envname("POINTMAP_MAX_BODY");
  command.add_option("--max-pixels", options.max_pixels, "Largest photo, in pixels")
      ->check(CLI::PositiveNumber)
      ->envname("POINTMAP_MAX_PIXELS")
      ->capture_default_str();
  command.add_option("--max-views", options.max_views, "Most photos of one request")
      ->check(CLI::Range(1, 10'000))
      ->envname("POINTMAP_MAX_VIEWS")
      ->capture_default_str();
  command.add_flag("--compress-npz", options.compress_npz, "Deflate archives when a request does not say")
      ->envname("POINTMAP_NPZ_COMPRESS");
}

void add_result_options(CLI::App& command, Arguments& arguments) {
  server::ServerOptions& options = arguments.options;
  command.add_option("--sync-below", options.sync_below_bytes, "Native requests under this size are answered when they are done (8M)")
      ->transform(CLI::AsSizeValue(false))
      ->envname("POINTMAP_SYNC_BELOW");
  command
      .add_option("--results-dir", options.results_dir,
                  "Where results of native jobs lie, across restarts; default: a folder that goes with the server")
      ->envname("POINTMAP_RESULTS_DIR");
  command.add_option("--results-ttl", arguments.results_ttl_s, "Seconds that results are kept")
      ->check(CLI::Range(1, 31'536'000))
      ->envname("POINTMAP_RESULTS_TTL")
      ->capture_default_str();
  command.add_option("--max-results", options.max_results, "Results that are kept at most; the oldest make room")
      ->check(CLI::Range(1, 1'000'000))
      ->envname("POINTMAP_MAX_RESULTS")
      ->capture_default_str();
}

void add_connection_options(CLI::App& command, server::ServerOptions& options) {
  command.add_option("--host", options.host, "Address to listen on; 0.0.0.0 for all")->envname("POINTMAP_HOST")->capture_default_str();
  command.add_option("--port", options.port, "0 for any free one; the log says which")
      ->check(CLI::Range(0, 65'535))
      ->envname("POINTMAP_PORT")
      ->capture_default_str();
  command.add_option("--http-threads", options.http_threads, "Connections that are served at a time")
      ->check(CLI::Range(1, 4'096))
      ->envname("POINTMAP_HTTP_THREADS")
      ->capture_default_str();
  command.add_option("--api-key-file", options.api_key_file, "Keys that may use the server, one a line; without it everyone may")
      ->envname("POINTMAP_API_KEY_FILE");
  command.add_option("--cors-origin", options.cors_origin, "Let pages from this origin call the server; off by default")
      ->envname("POINTMAP_CORS_ORIGIN");
}

}  // namespace

void add_serve(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("serve", "HTTP server; every option is also read from POINTMAP_* variables");
  const auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("-m,--model", arguments->models,
                   "MODEL or MODEL=NAME, again for each model; requests that name none get the first. MODEL as for reconstruct; default: "
                   "dust3r when it was fetched, else demo")
      ->envname("POINTMAP_MODEL");
  add_connection_options(*command, arguments->options);
  command
      ->add_option("--client-timeout", arguments->client_timeout_s,
                   "Seconds for the header of a request, and beyond a second for each 16 KiB for its body and the answer")
      ->check(CLI::Range(0.1, 3'600.0))
      ->envname("POINTMAP_CLIENT_TIMEOUT")
      ->capture_default_str();
  add_work_options(*command, *arguments);
  add_result_options(*command, *arguments);
  add_limit_options(*command, arguments->options);
  command->callback([arguments, &context] { context.run = [arguments, &context] { return run_serve(*arguments, context.cancel); }; });
}

}  // namespace pointmap::cli
