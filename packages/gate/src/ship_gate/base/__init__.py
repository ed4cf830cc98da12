"""What all records of the gate are made of: ids, texts, values, and the base of records."""
