#!/usr/bin/env python3
"""Makes PDFs of the kinds whose rows are hard to keep, with the truth beside: each `NAME.pdf` has a `NAME.json` with the
pairs of label and amount that a person sees on one row. Needs nothing but Python; fonts are named, not embedded.

    python3 benches/pdf_rows/make.py FOLDER [SEEDS]
"""
import json, os, random, sys, zlib

NARROW, WIDE = set("iljtfr.,:;'|!()[] "), set("mwMWQO%@")


class Page:
    """Text by its place, from the top left corner, in points."""

    def __init__(self, width=595, height=842, squeeze=1.0):
        self.width, self.height, self.squeeze, self.items, self.rules = width, height, squeeze, [], []

    def advance(self, character, size):
        if character in "\u064b\u064c\u064d\u064e\u064f\u0650\u0651\u0652":
            return 0.0
        share = 0.28 if character in NARROW else 0.83 if character in WIDE else 0.66 if character.isupper() else 0.53
        return share * size * self.squeeze

    def long(self, text, size):
        return sum(self.advance(character, size) for character in text)

    def put(self, x, y, text, size=9.5, align="l", gap=0.0):
        """One line; `gap` is what justification adds to each blank."""
        width = self.long(text, size) + gap * text.count(" ")
        x -= {"l": 0, "r": width, "c": width / 2}[align]
        self.items.append((x, y, size, visual(text), gap))

    def prose(self, x, y, width, text, size=9.5, step=12.0, justified=True, right=False):
        """A paragraph; gives the place under it."""
        lines, line = [], ""
        for word in text.split():
            longer = (line + " " + word).strip()
            if self.long(longer, size) > width and line:
                lines.append(line)
                line = word
            else:
                line = longer
        for last, one in [(False, one) for one in lines] + [(True, line)]:
            rest = width - self.long(one, size)
            gap = rest / one.count(" ") if justified and not last and " " in one else 0.0
            self.put(x + width if right else x, y, one, size, "r" if right else "l", gap)
            y += step
        return y


def is_from_right(character):
    return "\u0590" <= character <= "\u08ff" or "\ufb1d" <= character <= "\ufefc"


def visual(text):
    """The characters of a line from the left, as they are drawn."""
    if not any(map(is_from_right, text)):
        return text
    runs, run, kind = [], "", None
    for at, character in enumerate(text):
        right = is_from_right(character)
        if not right and not character.isalnum():
            before = kind is False and any(c.isalnum() for c in run)
            behind = next((is_from_right(c) for c in text[at + 1:] if c.isalnum() or is_from_right(c)), True)
            near = text[at + 1:at + 2].isalnum() or character in "%"
            right = not (before and not behind and (near or character != " "))
            if character == "%" and before:
                right = False
        if kind is not None and right != kind:
            runs.append((kind, run))
            run = ""
        run, kind = run + character, right
    runs.append((kind, run))
    mirror = str.maketrans("()[]<>", ")(][><")
    out = ""
    for right, run in reversed(runs):
        if right:
            clusters = []
            for character in run:
                if "\u064b" <= character <= "\u0652" and clusters:
                    clusters[-1] += character
                else:
                    clusters.append(character.translate(mirror))
            run = "".join(reversed(clusters))
        out += run
    return out


def write(path, pages, draw, random):
    """`draw`: `rows`, `columns`, `shuffled`, `glyphs` (each by itself) or `backwards` (glyphs from the right)."""
    codes, objects, kids = {}, [], []

    def code(character):
        return codes.setdefault(character, len(codes) + 3)

    for page in pages:
        items = list(page.items)
        if draw == "columns":
            items.sort(key=lambda item: (round(item[0] / 40), item[1]))
        elif draw in ("shuffled", "glyphs"):
            random.shuffle(items)
        content = []
        for x, y, width, height in page.rules:
            content.append(f"{x:.2f} {page.height - y:.2f} {width:.2f} {height:.2f} re S")
        for x, y, size, text, gap in items:
            at = f"1 0 0 1 {x:.2f} {page.height - y:.2f} Tm"
            if draw in ("glyphs", "backwards") or any("\u064b" <= c <= "\u0652" for c in text):
                pieces, place = [], x
                for character in text:
                    pieces.append((place, character))
                    place += page.advance(character, size) + (gap if character == " " else 0.0)
                if draw == "backwards" and any(map(is_from_right, text)):
                    pieces.reverse()
                content.append(f"BT /F {size} Tf")
                for place, character in pieces:
                    if character != " ":
                        content.append(f"1 0 0 1 {place:.2f} {page.height - y:.2f} Tm <{code(character):04x}> Tj")
                content.append("ET")
            else:
                shown, shift = "", -gap / size * 1000
                for character in text:
                    shown += f"{code(character):04x}"
                    if character == " " and gap:
                        shown += f"> {shift:.1f} <"
                content.append(f"BT /F {size} Tf {at} [<{shown}>] TJ ET")
        kids.append((page, "\n".join(content)))

    table = "\n".join(
        f"<{number:04x}> <{character.encode('utf-16-be').hex()}>" for character, number in codes.items()
    )
    cmap = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /A def /CMapType 2 def\n"
        "1 begincodespacerange <0000> <ffff> endcodespacerange\n"
        + "".join(
            f"{len(part)} beginbfchar\n" + "\n".join(part) + "\nendbfchar\n"
            for part in [table.split("\n")[at:at + 100] for at in range(0, len(codes), 100)]
        )
        + "endcmap end end"
    )
    one = Page(squeeze=pages[0].squeeze)
    widths = " ".join(f"{number} [{one.advance(character, 1000):.0f}]" for character, number in codes.items())

    def stream(text):
        data = zlib.compress(text.encode("latin-1"))
        return b"<</Filter/FlateDecode/Length %d>>stream\n" % len(data) + data + b"\nendstream"

    count = len(kids)
    names = " ".join(f"{6 + 2 * at} 0 R" for at in range(count))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{names}]/Count {count}>>".encode(),
        b"<</Type/Font/Subtype/Type0/BaseFont/Plain/Encoding/Identity-H/DescendantFonts[4 0 R]/ToUnicode 5 0 R>>",
        f"<</Type/Font/Subtype/CIDFontType2/BaseFont/Plain/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)"
        f"/Supplement 0>>/DW 530/W[{widths}]/FontDescriptor {6 + 2 * count} 0 R>>".encode(),
        stream(cmap),
    ]
    for at, (page, content) in enumerate(kids):
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 {page.width} {page.height}]/Resources<</Font<</F 3 0 R>>>>"
            f"/Contents {7 + 2 * at} 0 R>>".encode()
        )
        objects.append(stream(content))
    objects.append(
        b"<</Type/FontDescriptor/FontName/Plain/Flags 4/FontBBox[0 -250 1000 900]/ItalicAngle 0/Ascent 750"
        b"/Descent -250/CapHeight 700/StemV 80>>"
    )
    out, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    table = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    out += b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, table)
    open(path, "wb").write(out)


LATIN = {
    "en": "Revenue from services|Cost of sales|Gross profit|Administrative expenses|Other operating income|Finance costs|"
    "Profit before tax|Income tax|Trade receivables|Cash at bank and in hand|Deferred tax assets|Lease liabilities|"
    "Provisions|Share capital|Retained earnings|Intangible assets|Plant and machinery|Prepayments|Bank overdraft|"
    "Rental income|Wages and salaries|Depreciation of fixed assets|Insurance premiums|Travel and accommodation".split("|"),
    "de": "Umsatzerlöse|Sonstige betriebliche Erträge|Materialaufwand|Personalaufwand|Abschreibungen auf Sachanlagen|Zinsen "
    "und ähnliche Aufwendungen|Steuern vom Einkommen und vom Ertrag|Jahresüberschuss|Gezeichnetes Kapital|Kapitalrücklage|"
    "Gewinnvortrag|Rückstellungen für Pensionen|Verbindlichkeiten aus Lieferungen und Leistungen|Guthaben bei Kreditinstituten|"
    "Vorräte|Grundstücke und Bauten|Technische Anlagen|Forderungen gegen verbundene Unternehmen|Rechnungsabgrenzungsposten".split("|"),
    "he": "הכנסות משירותים|עלות המכירות|רווח גולמי|הוצאות הנהלה (כלליות)|הכנסות אחרות|הוצאות מימון|רווח לפני מס|מסים על ההכנסה|"
    "לקוחות|מזומנים ושווי מזומנים|נכסי מסים נדחים|הון מניות|עודפים|נכסים בלתי מוחשיים|הפרשות (ביאור 12)|הכנסות משכירות".split("|"),
    "ar": "إيرادات الخدمات|تكلفة المبيعات|مجمل الربح|المصروفات الإدارية (العامة)|إيرادات أخرى|تكاليف التمويل|الربح قبل الضريبة|"
    "ضريبة الدخل|ذمم مدينة تجارية|النقد في البنوك|موجودات ضريبية مؤجلة|رأس المال|أرباح محتجزة|موجودات غير ملموسة|مخصصات (إيضاح 12)".split("|"),
}
PROSE = {
    "en": "The board has examined the accounts that are set out below and found that they agree with the books. The harbour "
    "office keeps a register of all vessels, and each owner pays the dues for the berth in advance. Where a payment is late, "
    "interest is due from the day after the reminder was sent, and the officer may refuse the berth until it is paid. ",
    "he": "הדירקטוריון בחן את הדוחות המפורטים להלן ומצא כי הם תואמים את הספרים (ראו ביאור 4). משרד הנמל מנהל מרשם של כל כלי השיט "
    "וכל בעלים משלם את האגרה מראש. כאשר תשלום מתעכב תחול ריבית מיום שלאחר משלוח התזכורת. ",
    "ar": "راجع مجلس الإدارة الحسابات المبينة أدناه ووجد أنها تتفق مع الدفاتر (انظر الإيضاح 4). يحتفظ مكتب الميناء بسجل لجميع السفن "
    "ويدفع كل مالك رسوم الرصيف مقدما. وعند تأخر السداد تستحق الفائدة من اليوم التالي لإرسال التذكير. ",
}
COVER = (
    "Bodily injury liability|Property damage liability|Medical payments|Uninsured motorists|Collision|Comprehensive|"
    "Towing and labor costs|Rental reimbursement|Personal injury protection|Equipment breakdown|Loss of use|Water back-up"
).split("|")
LIMIT = "$%d,000 each person|$%d,000 each accident|$%d per disablement|Actual cash value less $%d|Included|Not covered".split("|")


class Truth:
    def __init__(self, random):
        self.random, self.pairs, self.used = random, [], set()

    def amount(self, style="en"):
        while True:
            number = self.random.choice((self.random.randint(100, 999), self.random.randint(1_000, 999_999), self.random.randint(10**6, 9 * 10**7)))
            cents = self.random.choice(("", ".%02d" % self.random.randint(0, 99)))
            text = f"{number:,}{cents}"
            if style == "de":
                text = text.translate(str.maketrans(",.", ".,"))
            if self.random.random() < 0.15:
                text = f"({text})" if style == "en" else "-" + text
            if text not in self.used:
                self.used.add(text)
                return text

    def is_pair(self, label, amount):
        """`label`: its lines, one of which stands beside the amount."""
        self.pairs.append([label if isinstance(label, list) else [label], amount])


def labels(random, language, count):
    words, out = LATIN[language], []
    for at in range(count):
        label = words[at % len(words)] if at < len(words) else f"{words[at % len(words)]} {at}"
        out.append(label)
    random.shuffle(out)
    return out


def wrapped(page, text, width, size):
    lines, line = [], ""
    for word in text.split():
        if page.long((line + " " + word).strip(), size) > width and line:
            lines.append(line)
            line = word
        else:
            line = (line + " " + word).strip()
    return lines + [line]


def table(page, truth, x, y, width, language, rows, columns, step, at, heads=True, size=9.5):
    """Labels at the left (or at the right, where they are read from there), amounts in columns beside; `at`: which line of
    a wrapped label its amounts stand on."""
    right = language in ("he", "ar")
    style = "de" if language == "de" else "en"
    room = width - 75 * columns
    place = lambda column: x + 70 + 75 * (columns - 1 - column) if right else x + width - 75 * (columns - 1 - column)
    if heads:
        for column in range(columns):
            page.put(place(column), y, str(2031 - column), size, "r")
        y += step
    names = labels(truth.random, language, rows)
    for number, name in enumerate(names):
        if number and truth.random.random() < 0.15:
            y += step * truth.random.choice((0.6, 1.0, 1.6))
            heading = truth.random.choice(LATIN[language]).upper()
            page.put(x + width if right else x, y, heading, size + 0.5, "r" if right else "l")
            y += step
        indent = truth.random.choice((0, 0, 10, 20))
        if truth.random.random() < 0.3:
            name = f"{name} {truth.random.choice(LATIN[language])} {truth.random.choice(LATIN[language])}"
        lines = wrapped(page, name, room - indent - 12, size)
        for nth, line in enumerate(lines):
            page.put(x + width - indent if right else x + indent, y + 1.14 * size * nth, line, size, "r" if right else "l")
        last = y + 1.14 * size * (len(lines) - 1)
        base = {"first": y, "last": last, "middle": (y + last) / 2}[at]
        for column in range(columns):
            if truth.random.random() < 0.12 and columns > 1:
                continue
            amount = truth.amount(style)
            page.put(place(column), base, amount, size, "r")
            near = lines if at == "middle" and len(lines) % 2 == 0 else [lines[{"first": 0, "last": -1, "middle": len(lines) // 2}[at]]]
            truth.is_pair(near, amount)
        y = last + step * truth.random.choice((1, 1, 1, 1.3))
    return y


def statement(random, language="en"):
    page, truth = Page(squeeze=random.choice((0.85, 1.0))), Truth(random)
    page.put(60, 60, "Statement of income", 15)
    y = page.prose(60, 85, 475, PROSE["en"], step=12) + 8
    step = random.choice((12, 14, 18, 24, 32))
    table(page, truth, 60, y, random.choice((420, 475)), language, int(620 / step / 1.45), random.choice((1, 2, 3)), step, random.choice(("first", "last", "middle")))
    return [page], truth


def balance(random):
    """Assets and liabilities side by side, each with a rhythm of its own."""
    page, truth = Page(842, 595), Truth(random)
    page.put(421, 50, "Bilanz zum 31. Dezember 2031", 14, "c")
    page.put(50, 75, "AKTIVA", 10)
    page.put(440, 75, "PASSIVA", 10)
    for x, step in ((50, random.choice((14, 17))), (440, random.choice((14, 15.5, 19)))):
        table(page, truth, x, 95, 350, "de", random.randint(10, 14), random.choice((1, 2)), step, random.choice(("first", "last")), size=9)
    return [page], truth


def facing(random):
    page, truth = Page(1190, 842), Truth(random)
    for nth, x in enumerate((60, 655)):
        page.put(x, 60, f"Notes to the accounts ({nth + 1})", 13)
        y = page.prose(x, 90, 475, PROSE["en"] * random.choice((1, 2)), step=13) + 10
        y = table(page, truth, x, y, 475, "en", random.randint(8, 12), random.choice((1, 2)), 15, "first") + 10
        page.prose(x, y, 475, PROSE["en"] * random.choice((2, 3)), step=13)
        page.put(x + 475 if nth else x, 815, str(40 + nth), 9, "r" if nth else "l")
    return [page], truth


def policy(random):
    page, truth = Page(), Truth(random)
    page.put(60, 60, "DECLARATIONS", 15)
    for nth, (label, value) in enumerate([("Policy number", "PA 4411-%d" % random.randint(100, 999)), ("Policy period", "1 March 2031 to 1 March 2032"), ("Agent", "Orlo Harbour Agency")]):
        page.put(60, 84 + 14 * nth, label + ":", 9.5)
        page.put(random.choice((160, 180)), 84 + 14 * nth, value, 9.5)
        truth.is_pair(label, value)
    y = page.prose(60, 140, 475, PROSE["en"], step=12) + 10
    spread = random.choice((24, 17, 30))
    page.put(60, y, "Coverage", 10)
    page.put(270, y, "Limit of liability", 10)
    page.put(535, y, "Premium", 10, "r")
    y += spread
    for name in random.sample(COVER, 9):
        if random.random() < 0.5:
            name += random.choice((" (see endorsement 7)", " - insured vehicle only", ", per schedule of the named insured and family"))
        lines = wrapped(page, name, 175, 9.5)
        limit = random.choice(LIMIT)
        limit = limit % random.choice((25, 50, 100, 250, 300, 500)) if "%" in limit else limit
        limits = [limit] if random.random() < 0.6 or limit[0] != "$" else [limit, f"${random.randint(1, 9)},{random.randint(100, 999)} deductible"]
        for nth, line in enumerate(lines):
            page.put(60, y + 11 * nth, line, 9.5)
        for nth, line in enumerate(limits):
            page.put(270, y + 11 * nth, line, 9.5)
        premium = "$%d.%02d" % (random.randint(10, 999), random.randint(0, 99))
        if premium not in truth.used:
            truth.used.add(premium)
            page.put(535, y, premium, 9.5, "r")
            truth.is_pair(lines[0], premium)
            truth.is_pair(limits[0], premium)
        truth.is_pair(lines[0], limits[0])
        y += 11 * (max(len(lines), len(limits)) - 1) + spread
    page.prose(60, y + 6, 475, PROSE["en"], step=12)
    return [page], truth


def callout(random):
    page, truth = Page(), Truth(random)
    page.put(60, 60, "Key figures", 15)
    y = table(page, truth, 60, 100, 300, "en", 16, 1, random.choice((14, 16)), "first", heads=False)
    top = random.choice((160, 240))
    page.rules.append((415, top + 90, 130, 105))
    page.prose(425, top, 110, "Dues rose by a fifth after the new quay was opened to larger vessels in spring.", 10, random.choice((14, 13)), False)
    page.prose(60, y + 10, 475, PROSE["en"] * 2)
    return [page], truth


def from_right(random, language):
    page, truth = Page(squeeze=random.choice((0.9, 1.0))), Truth(random)
    page.put(535, 60, LATIN[language][0], 15, "r")
    y = page.prose(60, 85, 475, PROSE[language] * 2, step=14, right=True) + 8
    step = random.choice((14, 18, 25))
    y = table(page, truth, 60, y, 475, language, int(430 / step / 1.3), random.choice((1, 2)), step, random.choice(("first", "last")))
    page.prose(60, y, 475, PROSE[language], step=14, right=True)
    return [page], truth


def bilingual(random, language):
    page, truth = Page(), Truth(random)
    page.put(60, 60, "Statement of income", 14)
    page.put(535, 60, LATIN[language][0], 14, "r")
    y = 90
    if random.random() < 0.6:
        y = max(page.prose(60, y, 225, PROSE["en"], step=13), page.prose(310, y, 225, PROSE[language], step=13, right=True)) + 12
    step = random.choice((15, 20, 26))
    english, other = labels(random, "en", 14), labels(random, language, 14)
    for name, its in zip(english, other):
        columns = random.choice((1, 2))
        page.put(60, y, name)
        page.put(535, y, its, align="r")
        for column in range(columns):
            amount = truth.amount()
            page.put(285 + 75 * column, y, amount, align="r")
            truth.is_pair(name, amount)
            truth.is_pair(its, amount)
        y += step * random.choice((1, 1, 1.4))
    return [page], truth


def report(random):
    """Two columns of running text; in each a table."""
    page, truth = Page(), Truth(random)
    page.put(60, 60, "Report of the harbour office", 15)
    for x in (60, 310):
        y = page.prose(x, 90, 225, PROSE["en"] * random.choice((2, 3)), 9, 11) + 8
        y = table(page, truth, x, y, 225, "en", random.randint(6, 9), 1, 12, "first", heads=False, size=8.5) + 6
        page.prose(x, y, 225, PROSE["en"] * 2, 9, 11)
    return [page], truth


def bank(random):
    page, truth = Page(), Truth(random)
    page.put(60, 60, "Harbour Bank", 15)
    page.put(60, 90, "Orlo Shipping Ltd")
    page.put(60, 102, "4 Quay Street")
    page.put(60, 114, "Orlo")
    for nth, (label, value) in enumerate((("Account", "44 120 7"), ("Statement", "3/2031"), ("Opening balance", truth.amount()))):
        page.put(370, 90 + 12 * nth, label)
        page.put(535, 90 + 12 * nth, value, align="r")
        truth.is_pair(label, value)
    y = 150
    for x, text, align in ((60, "Date", "l"), (115, "Details", "l"), (400, "Paid out", "r"), (465, "Paid in", "r"), (535, "Balance", "r")):
        page.put(x, y, text, 9, align)
    y += 16
    for _ in range(16):
        page.put(60, y, "%02d.%02d.2031" % (random.randint(1, 28), random.randint(1, 12)), 9)
        lines = random.sample(COVER, random.choice((1, 2, 3)))
        for nth, line in enumerate(lines):
            page.put(115, y + 11 * nth, f"{line} {random.randint(10, 99)}", 9)
            lines[nth] = page.items[-1][3]
        amount, column = truth.amount(), random.choice((400, 465))
        page.put(column, y, amount, 9, "r")
        truth.is_pair(lines[0], amount)
        if random.random() < 0.6:
            balance_ = truth.amount()
            page.put(535, y, balance_, 9, "r")
            truth.is_pair(lines[0], balance_)
        y += 11 * len(lines) + random.choice((3, 5, 9))
    return [page], truth


def fees(random):
    """Dots lead to the amounts; two columns of them."""
    page, truth = Page(), Truth(random)
    page.put(60, 60, "Schedule of fees", 15)
    two = random.random() < 0.5
    for x, width in ((60, 225), (310, 225)) if two else ((60, 475),):
        y = 95
        for name in labels(random, "en", random.randint(17, 22)):
            amount = truth.amount()
            room = width - page.long(name, 9) - page.long(amount, 9) - 8
            page.put(x, y, f"{name} {'.' * int(room / page.long('.', 9))}", 9)
            page.put(x + width, y, amount, 9, "r")
            truth.is_pair(name, amount)
            y += 13.5
    return [page], truth


KINDS = {
    "statement": statement,
    "statement-de": lambda random: statement(random, "de"),
    "balance": balance,
    "facing": facing,
    "policy": policy,
    "callout": callout,
    "hebrew": lambda random: from_right(random, "he"),
    "arabic": lambda random: from_right(random, "ar"),
    "bilingual-he": lambda random: bilingual(random, "he"),
    "bilingual-ar": lambda random: bilingual(random, "ar"),
    "report": report,
    "bank": bank,
    "fees": fees,
}
DRAWN = ("rows", "columns", "shuffled", "glyphs", "backwards")


def main():
    folder, seeds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    os.makedirs(folder, exist_ok=True)
    for kind, make in KINDS.items():
        for seed in range(seeds):
            # Not `hash`, which differs from run to run.
            chance = random.Random(f"{kind} {seed}")
            pages, truth = make(chance)
            name = os.path.join(folder, f"{kind}-{seed}")
            write(name + ".pdf", pages, DRAWN[seed % len(DRAWN)], chance)
            with open(name + ".json", "w", encoding="utf-8") as out:
                json.dump(truth.pairs, out, ensure_ascii=False)


if __name__ == "__main__":
    main()
