#!/usr/bin/env python3
"""Writes cldr_times.txt: how languages name days, weeks, months and years, from the CLDR of Unicode.

    npm pack cldr-dates-full && tar xzf cldr-dates-full-*.tgz
    crates/base/src/text/dates/data/cldr_times.py package

A row is: languages, unit, number, phrase. The unit of a relative time is "day", "week", "month", "year", a weekday ("mon"), or a weekday of a
week ("mon-of-week": the Monday of last week), and the number its distance from the present one. The unit of a month is "name" (it stands
alone), "form" (next to a day) or "short", and the number is that of the month. English has its own patterns (`relative.rs`, `calendar.rs`).

Generic rules: a word that the phrases of last and next time begin with is left out if it has one or two letters ("la semana pasada", "la
próxima semana"). A phrase that also names a part of the day ("morgen", "mañana") or that has two meanings is left out. So is an abbreviation
of less than three letters or one with a full stop inside a relative time.
"""

import collections
import json
import pathlib
import re
import sys
import unicodedata

LOCALES = "ar de es fr it ja nl pl pt ro ru sv tr vi zh zh-Hant".split()
PERIODS = ["day", "week", "month", "year"]
WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
OFFSETS = range(-2, 3)
OUTPUT = pathlib.Path(__file__).with_suffix(".txt")


def plain(phrase):
    """A phrase in lower case, with plain spaces and apostrophes, and without marks of direction."""
    phrase = unicodedata.normalize("NFC", phrase).lower().replace("’", "'")
    visible = "".join(c for c in phrase if unicodedata.category(c) != "Cf")
    return " ".join(visible.split())


def folded(phrase):
    """A phrase without diacritics, to find two meanings of what people type."""
    return "".join(c for c in unicodedata.normalize("NFD", phrase) if not "\u0300" <= c <= "\u036f").replace("ı", "i")


def relative(field):
    """The phrases of a field, by their offset."""
    found = {offset: field.get(f"relative-type-{offset}") for offset in OFFSETS}
    return {offset: plain(phrase) for offset, phrase in found.items() if phrase and not phrase.endswith(".")}


def without_article(phrases):
    """The phrases without the short word that those of last and next time begin with."""
    first = {re.match(r"(?:\w{1,2} |\w')?", phrases[offset])[0] for offset in (-1, 1) if offset in phrases}
    article = first.pop() if len(first) == 1 else ""
    # A preposition varies with the word after it: "во вторник", "we wtorek".
    return {offset: phrase.removeprefix(article) for offset, phrase in phrases.items()}


def rows_of(folder, locale):
    """The rows of one locale: unit, number, phrase."""
    fields = json.loads((folder / "main" / locale / "dateFields.json").read_text())["main"][locale]["dates"]["fields"]
    calendar = json.loads((folder / "main" / locale / "ca-gregorian.json").read_text())
    calendar = calendar["main"][locale]["dates"]["calendars"]["gregorian"]
    weeks = without_article(relative(fields["week"]))
    for unit in PERIODS:
        for variant in (unit, f"{unit}-narrow") if unit == "day" else (unit,):
            phrases = relative(fields[variant])
            for offset, phrase in (phrases if unit == "day" else without_article(phrases)).items():
                yield unit, offset, phrase
    for unit in WEEKDAYS:
        for offset, phrase in without_article(relative(fields[unit])).items():
            yield f"{unit}-of-week" if weeks[offset] in phrase else unit, offset, phrase
    months = calendar["months"]
    alone = [plain(months["stand-alone"]["wide"][str(number)]) for number in range(1, 13)]
    for number, name in enumerate(alone, 1):
        yield "name", number, name
        form = plain(months["format"]["wide"][str(number)])
        if form != name:
            yield "form", number, form
        for style in ("format", "stand-alone"):
            short = plain(months[style]["abbreviated"][str(number)]).removesuffix(".")
            if short not in (name, form) and (len(short) >= 3 or not short[0].isascii() or short[0].isdigit()):
                yield "short", number, short


def day_parts(folder, locale):
    """The names of the parts of the day."""
    calendar = json.loads((folder / "main" / locale / "ca-gregorian.json").read_text())
    periods = calendar["main"][locale]["dates"]["calendars"]["gregorian"]["dayPeriods"]
    return {plain(name) for style in periods.values() for name in style["wide"].values()}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    languages = collections.defaultdict(set)
    parts = set().union(*(day_parts(folder, locale) for locale in LOCALES))
    for locale in LOCALES:
        for row in rows_of(folder, locale):
            if row[2] not in parts:
                languages[row].add(locale.split("-")[0])
    meanings = collections.defaultdict(set)
    kind = {"name": "month name", "form": "month name", "short": "month name"}
    for unit, number, phrase in languages:
        meanings[folded(phrase)].add((kind.get(unit, unit), number))
    for phrase in sorted(phrase for phrase, found in meanings.items() if len(found) > 1):
        print(f"left out, two meanings: {phrase} {sorted(meanings[phrase])}", file=sys.stderr)
    rows = sorted(
        ("\t".join([",".join(sorted(names)), unit, str(number), phrase]) for (unit, number, phrase), names in languages.items()
         if len(meanings[folded(phrase)]) == 1)
    )
    package = json.loads((folder / "package.json").read_text())
    head = [
        "How languages name days, weeks, months and years. Made by cldr_times.py, which explains the rows.",
        f"Source: Unicode CLDR {package['cldrVersion']}, npm package {package['name']} {package['version']}, under the licence below.",
        "",
        *(folder / "LICENSE").read_text().strip().splitlines(),
    ]
    OUTPUT.write_text("\n".join([f"# {line}".rstrip() for line in head] + rows) + "\n")


if __name__ == "__main__":
    main()
