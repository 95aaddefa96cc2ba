from lyceum.serve.serving import (
    ServeSettings as ServeSettings,
    serve_models as serve_models,
)
