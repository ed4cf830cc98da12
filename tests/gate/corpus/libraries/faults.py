"""Forty realistic faults: (library, old, new, what)."""

FAULTS = [
    # timespan
    ("timespan",
     '        if position == last:\n            raise ValueError(f"unit {unit!r} occurs twice: {text!r}")\n',
     '',
     "parse_span: a unit that occurs twice is accepted"),
    ("timespan", "rest = text.strip().lower()", "rest = text.strip()",
     "parse_span: capitals are refused"),
    ("timespan", "rest = rest[match.end():].lstrip()", 'rest = rest[match.end():].lstrip(" ,")',
     "parse_span: commas between parts are accepted"),
    ("timespan", "    for unit, size in _UNITS.items():\n",
     '    for unit in "dhms":\n        size = _UNITS[unit]\n',
     "format_span: weeks are forgotten"),
    ("timespan",
     "    count, rest = divmod(seconds, size)\n    if rest * 2 >= size:\n        count += 1\n    return count * size",
     "    return round(seconds / size) * size",
     "round_span: halves go to even"),
    ("timespan",
     '    if unit not in _UNITS:\n        raise ValueError(f"unknown unit: {unit!r}")\n',
     '',
     "round_span, parse_span: an unknown unit raises KeyError"),
    ("timespan", "base, extra = divmod(seconds, parts)",
     "base, extra = int(seconds / parts), seconds % parts",
     "split_span: float division, wrong sum for very large numbers"),
    # numerals
    ("numerals", "if not 1 <= number <= _MAX:", "if not 1 <= number < _MAX:",
     "to_roman: 3999 is refused"),
    ("numerals", "re.ASCII | re.IGNORECASE", "re.ASCII",
     "from_roman: lower case is refused"),
    ("numerals", "L?X{0,3}", "L?X{0,4}",
     "from_roman: XXXX is accepted"),
    ("numerals", "re.ASCII | re.IGNORECASE,", "re.IGNORECASE,",
     "from_roman: letters beyond ASCII such as the dotless i match"),
    ("numerals", "if value >= _MAX:", "if value > _MAX:",
     "next_roman: ValueError rather than OverflowError after 3999"),
    ("numerals", "return sorted(texts, key=from_roman)",
     "return sorted(texts, key=lambda text: (from_roman(text), text))",
     "sort_roman: equal ones are sorted by text"),
    # mdtable
    ("mdtable", "if len(delimiter) != width:", "if len(delimiter) < width:",
     "parse_table: a delimiter row with too many cells is accepted"),
    ("mdtable", "cells = _split_row(line)[:width]", "cells = _split_row(line)",
     "parse_table: long rows are not cut"),
    ("mdtable", "max(len(row[index]) for row in escaped)", "max(len(row[index]) for row in rows)",
     "format_table: widths are those of the cells before escaping"),
    ("mdtable", '_LINE_END.sub(" ", cell).replace', 'cell.replace("\\n", " ").replace',
     "format_table: only newlines are replaced, carriage returns stay"),
    ("mdtable", "        raise KeyError(name)\n", '        raise ValueError(f"no column {name!r}")\n',
     "column, sort_rows: an unknown name raises ValueError"),
    ("mdtable", "return value if value.is_finite() else None", "return value",
     "sort_rows: nan and inf count as numbers"),
    ("mdtable", "        return row[index]\n\n    body", "        return row[index].lower()\n\n    body",
     "sort_rows: text is sorted without regard to case"),
    # spans
    ("spans", "if merged and start <= merged[-1][1]:", "if merged and start < merged[-1][1]:",
     "normalise: touching spans are not merged"),
    ("spans",
     '    for start, end in spans:\n'
     '        if end <= start:\n'
     '            raise ValueError(f"span must end after its start: ({start}, {end})")\n'
     '    merged: list[Span] = []\n'
     '    for start, end in sorted(spans):\n'
     '        if merged and start <= merged[-1][1]:\n'
     '            merged[-1] = (merged[-1][0], max(merged[-1][1], end))\n'
     '        else:\n',
     '    merged: list[Span] = []\n'
     '    for start, end in sorted(spans):\n'
     '        if merged and start <= merged[-1][1]:\n'
     '            merged[-1] = (merged[-1][0], max(merged[-1][1], end))\n'
     '        else:\n'
     '            if end <= start:\n'
     '                raise ValueError(f"span must end after its start: ({start}, {end})")\n',
     "normalise: a wrong span that starts within another is not noticed"),
    ("spans", "    for start, end in normalise(left):\n",
     "    normalise(left)\n    for start, end in sorted(left):\n",
     "subtract: overlapping spans on the left are only checked, not merged"),
    ("spans", "return any(start <= number < end for", "return any(start <= number <= end for",
     "contains: the end counts as inside"),
    ("spans", "    if end < start:\n", "    if end <= start:\n",
     "gaps: an empty range raises ValueError"),
    ("spans", "return sum(end - start for start, end in normalise(spans))",
     "return sum(end - start for start, end in set(spans))",
     "total: overlaps are counted more than once"),
    # inifile
    ("inifile",
     '            if index != len(value) - 1:\n                raise IniError(line, "text after the closing quote")\n',
     '',
     "parse_ini: text after the closing quote is dropped silently"),
    ("inifile", "            if index >= len(value):\n                break\n", "",
     "parse_ini: IndexError for a backslash at the end of an unclosed quote"),
    ("inifile", "        key = key.strip()\n", "        key = key.strip().lower()\n",
     "parse_ini: keys are put in lower case"),
    ("inifile", 'enumerate(text.split("\\n"), start=1)', "enumerate(text.splitlines(), start=1)",
     "parse_ini: other line separators within a value split it"),
    ("inifile",
     """value.replace("\\\\", "\\\\\\\\").replace('"', '\\\\"').replace("\\n", "\\\\n")""",
     """value.replace('"', '\\\\"').replace("\\\\", "\\\\\\\\").replace("\\n", "\\\\n")""",
     "dump_ini: escapes in the wrong order"),
    ("inifile", "result.setdefault(name, {}).update(keys)", "result.setdefault(name, keys).update(keys)",
     "merge_ini: new sections are shared with over"),
    ("inifile", "value = values[section][key]", 'value = values.get(section, {}).get(key, "")',
     "get_flag: a missing key raises ValueError"),
    # invoice
    ("invoice", "rounding=ROUND_HALF_UP", 'rounding="ROUND_HALF_EVEN"',
     "all: rounded half to even"),
    ("invoice", "return _round_cents(line.quantity * line.price)",
     "return _round_cents(line.quantity * _round_cents(line.price))",
     "line_total: the price is rounded before multiplying"),
    ("invoice",
     "        sums[line.tax] = sums.get(line.tax, Decimal(0)) + amount\n"
     "    return {rate: _round_cents(sums[rate] * rate / _HUNDRED) for rate in sorted(sums)}\n",
     "        tax = _round_cents(amount * line.tax / _HUNDRED)\n"
     "        sums[line.tax] = sums.get(line.tax, Decimal(0)) + tax\n"
     "    return {rate: sums[rate] for rate in sorted(sums)}\n",
     "tax_by_rate: rounded for each line rather than on the sum"),
    ("invoice", "for rate in sorted(sums)}", "for rate in sums}",
     "tax_by_rate: rates in the order of the lines"),
    ("invoice", 'net = sum((line_total(line) for line in lines), Decimal("0.00"))',
     'net = _round_cents(sum((line.quantity * line.price for line in lines), Decimal("0.00")))',
     "grand_total: rounded once rather than for each line"),
    ("invoice", "_round_cents(line.price * (_HUNDRED - percent) / _HUNDRED)",
     "_round_cents(line.price * _round_cents((_HUNDRED - percent) / _HUNDRED))",
     "discount: the factor is rounded to two decimals"),
    ("invoice", "key=lambda index: -remainders[index]", "key=lambda index: -weights[index]",
     "split_amount: cents left over go to the largest weights"),
]
