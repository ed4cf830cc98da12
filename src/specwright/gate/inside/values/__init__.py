"""The values of a module's boundary where they are drawn, packed and altered."""
