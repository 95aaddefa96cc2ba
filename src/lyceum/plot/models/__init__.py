"""Pictures of what models learned."""
