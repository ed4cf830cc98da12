"""What roles answer: the records' schemas without ids, references and times (design: ids)."""
