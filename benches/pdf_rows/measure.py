#!/usr/bin/env python3
"""The share of true pairs of label and amount that stand on one line of a tool's text, for the PDFs that `make.py` made.

    python3 benches/pdf_rows/measure.py FOLDER NAME=TOOL...

`TOOL` is a command with `{}` for the path of the PDF, or a folder with `NAME.pdf.txt` for each `NAME.pdf`.
"""
import json, os, shlex, subprocess, sys, unicodedata


def plain(text):
    """Without blanks, marks of direction and the shapes that letters take."""
    text = unicodedata.normalize("NFKC", text)
    return "".join(c for c in text if not c.isspace() and unicodedata.category(c) not in ("Cf", "Mn"))


def share(pairs, text):
    lines = [plain(line) for line in text.split("\n")]
    on_one = lambda labels, amount: any(plain(amount) in line and any(plain(one) in line for one in labels) for line in lines)
    return sum(on_one(labels, amount) for labels, amount in pairs) / len(pairs)


def main():
    folder, tools = sys.argv[1], [one.split("=", 1) for one in sys.argv[2:]]
    names = sorted(name[:-5] for name in os.listdir(folder) if name.endswith(".json"))
    sums, kinds, below = {}, {}, []
    for name in names:
        pairs, shares = json.load(open(os.path.join(folder, name + ".json"), encoding="utf-8")), {}
        for tool, texts in tools:
            path = os.path.join(texts, name + ".pdf.txt")
            if "{}" in texts:
                asked = [os.path.join(folder, name + ".pdf") if part == "{}" else part for part in shlex.split(texts)]
                text = subprocess.run(asked, capture_output=True, check=False).stdout.decode("utf-8", "replace")
            else:
                text = open(path, encoding="utf-8", errors="replace").read() if os.path.exists(path) else ""
            shares[tool] = share(pairs, text)
            kinds.setdefault(name.rsplit("-", 1)[0], {}).setdefault(tool, []).append(shares[tool])
            sums.setdefault(tool, []).append(shares[tool])
        first = shares[tools[0][0]]
        if first < max(shares.values()) - 1e-9:
            below.append(f"{name}: " + ", ".join(f"{tool} {value:.2f}" for tool, value in shares.items()))
    mean = lambda values: f"{sum(values) / len(values):.3f}"
    print("| kind | " + " | ".join(tool for tool, _ in tools) + " |\n|---|" + "---|" * len(tools))
    for kind, shares in kinds.items():
        print(f"| {kind} | " + " | ".join(mean(shares[tool]) for tool, _ in tools) + " |")
    print(f"| all {len(names)} | " + " | ".join(mean(sums[tool]) for tool, _ in tools) + " |")
    for line in below:
        print("below:", line, file=sys.stderr)


if __name__ == "__main__":
    main()
