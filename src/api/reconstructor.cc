// The public Reconstructor: a session of recon behind a pointer, so that no inner header is seen outside.
#include "pointmap/pointmap.h"
#include "recon/session.h"

namespace pointmap {

struct Reconstructor::Impl {
  Session session;
};

Reconstructor::Reconstructor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Reconstructor::~Reconstructor() = default;
Reconstructor::Reconstructor(Reconstructor&&) noexcept = default;
Reconstructor& Reconstructor::operator=(Reconstructor&&) noexcept = default;

Reconstructor Reconstructor::open(const std::string& model, const LoadOptions& options) {
  return Reconstructor(std::unique_ptr<Impl>(new Impl{Session(model, options)}));
}

const ModelInfo& Reconstructor::model() const {
  return impl_->session.model();
}

void Reconstructor::load(const Progress& progress) {
  impl_->session.load(progress);
}

Reconstruction Reconstructor::reconstruct(const std::vector<Photo>& photos, const ReconstructOptions& options) {
  return impl_->session.reconstruct(photos, options);
}

}  // namespace pointmap
