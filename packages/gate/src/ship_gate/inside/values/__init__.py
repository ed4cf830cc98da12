"""The values of a module's boundary where they are drawn, packed, judged, shown and altered."""
