"""What a role is given: context packs and its view of the store (design: context-packs)."""
