"""Bytes of a game record into SGF that a strict parser reads: the encoding, then the mending of damage.

Two steps, neither of which raises. `decode` comes first because in GB18030, Big5 and Shift-JIS the second byte of a
character may be "]" or a backslash. `mend` then rewrites the main line alone; a main line is always a prefix of the
text (it ends at the first closing bracket), so the variations are only counted, however deep they nest.
"""

from __future__ import annotations

import codecs
import re


class Problems:
    """Plain sentences about what could not be read: the first `LIMIT` of them, and how many more there were."""

    LIMIT = 20

    def __init__(self) -> None:
        self._said: list[str] = []
        self._count = 0

    def say(self, problem: str) -> None:
        self._count += 1
        if self._count <= self.LIMIT:
            self._said.append(problem)

    def at(self, text: str, pos: int, problem: str) -> None:
        """A problem with its place in `text`, which is only worked out while it will be shown."""
        if self._count < self.LIMIT:
            column = pos - text.rfind("\n", 0, pos)
            problem = f"Line {text.count(chr(10), 0, pos) + 1}, column {column}: {problem}"
        self.say(problem)

    def all(self) -> tuple[str, ...]:
        more = self._count - self.LIMIT
        return (*self._said, f"{more} more problem(s) are not listed.") if more > 0 else tuple(self._said)


_ALIASES = {
    "utf-8": "utf8 utf8sig unicode ascii usascii",
    # Supersets are read in place of the smaller sets: files declare the one and use the other.
    "gb18030": "gb18030 gbk gb gb2312 gb231280 euccn cp936 ms936 windows936",
    "cp950": "big5 big5eten cp950 ms950 windows950",
    "big5hkscs": "big5hkscs",
    "cp932": "shiftjis sjis xsjis mskanji cp932 ms932 windows31j windows932",
    "euc_jp": "eucjp ujis xeucjp",
    "iso2022_jp": "iso2022jp jis",
    "cp949": "euckr ksc5601 ksc56011987 ksx1001 cp949 ms949 uhc windows949",
    "latin-1": "latin1 iso88591",
    "iso8859-2": "latin2 iso88592",
    "iso8859-5": "iso88595",
    "iso8859-15": "latin9 iso885915",
    "cp1250": "cp1250 windows1250",
    "cp1251": "cp1251 windows1251",
    "cp1252": "cp1252 windows1252",
    "koi8-r": "koi8r",
}
_CODECS = {alias: codec for codec, aliases in _ALIASES.items() for alias in aliases.split()}
_BOMS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
_CA = re.compile(rb"(?<![A-Za-z])CA\s*\[\s*([^\]\r\n]{1,40}?)\s*\]")
_ASCII = re.compile(r"[\x00-\x7f]+")
_UNREADABLE = "\ufffd"
_ENOUGH_UTF8 = 4  # so many well-formed characters are no accident of another encoding


def decode(data: bytes, problems: Problems) -> str:
    """The text of a record; unreadable bytes become U+FFFD, and it is said.

    A byte order mark decides, then the CA property, then the bytes themselves. CA is overruled by text that is plainly
    UTF-8, since files are often converted without changing it.
    """
    for mark, codec in _BOMS.items():
        if data.startswith(mark):
            return _decoded(data[len(mark) :], codec, problems)
    foreign = _ASCII.sub("", data.decode("utf-8", "replace"))
    bad = foreign.count(_UNREADABLE)
    good = len(foreign) - bad
    found = _CA.search(data)
    name = found[1].decode("latin-1") if found else ""
    declared = _CODECS.get(re.sub(r"[^a-z0-9]", "", name.lower()))
    if name and not declared:
        problems.say(f"CA[{shown(name)}] names an encoding that is not known here.")
    if declared and declared != "utf-8":
        if bad or good < _ENOUGH_UTF8:
            return _decoded(data, declared, problems)
        problems.say(f"The text is UTF-8 and was read so, although it declares CA[{shown(name)}].")
    if bad <= good:
        return _decoded(data, "utf-8", problems)
    guess = _guess(data)
    problems.say(f"The text is not UTF-8; as nothing better is declared (CA), it was read as {guess.upper()}.")
    return _decoded(data, guess, problems)


def _decoded(data: bytes, codec: str, problems: Problems) -> str:
    text = data.decode(codec, "replace")
    if bad := text.count(_UNREADABLE):
        problems.say(f"{bad} character(s) could not be read as {codec.upper()}; each is replaced by {_UNREADABLE}.")
    return text


def _guess(data: bytes) -> str:
    """Chinese text has its high bytes in runs, Western text alone between letters."""
    runs = re.findall(rb"[\x80-\xff]+", data)
    alone = sum(len(run) == 1 for run in runs)
    return "gb18030" if alone * 4 <= len(runs) else "latin-1"


def mend(text: str, problems: Problems) -> bytes:
    """Main line of the first game in `text` as `(;...;...)` in UTF-8, which `sgfmill.sgf_grammar` reads.

    At most one move in a node, every value closed and escaped; what was wrong with the text is said.
    """
    mender = _Mender(text, problems)
    mender.run()
    return "".join([*mender.out, ")"]).encode("utf-8", "replace")


_START = re.compile(r"\(\s*;\s*(?=[A-Za-z;()]|\Z)")
_DOUBTFUL_START = re.compile(r"\(\s*;")
_HEADLESS = re.compile(r"(?:[(;]\s*[A-Za-z]{1,64}|(?<![A-Za-z])(?:FF|GM|SZ|CA|AP))\s*\[")
_TOKEN = re.compile(r"\s*(?:(?P<mark>[;()])|(?P<name>[A-Za-z]{1,64}(?=\s*\[))|(?P<value>\[)|(?P<junk>\S))")
_JUNK_END = re.compile(r"[;()\[]|(?<![A-Za-z])[A-Za-z]{1,64}\s*\[")
_OPEN = re.compile(r"\s*\[")
_TAIL = re.compile(r"\[[^\\\]]*(?:\\.[^\\\]]*)*\]?|[()]", re.DOTALL)

# What may follow a closed value. Anything else means that the bracket was part of the value's text.
_NAME_AHEAD = r"(?:[a-z]{0,20}[A-Z][A-Za-z]{0,40}|[bw])\s*\["
_FOLLOW_TEXT = re.compile(rf"\s*(?:;\s*(?:[A-Za-z;()]|\Z)|\(\s*[;(]|\)\s*(?:[();]|\Z)|{_NAME_AHEAD}|\Z)")
_FOLLOW = re.compile(rf"{_FOLLOW_TEXT.pattern}|\s*\[")
_PLAIN = re.compile(r"([^\[\]\\;]*)\]")
_UNCLOSED_MOVE = re.compile(r"\s*([A-Za-z]{2})(?=\s*(?:[;()]|[A-Z]{1,2}\s*\[|\Z))")
_MOVE_AHEAD = rf"(?:(?:\)\s{{0,9}}){{0,9}}\(\s{{0,9}})?;\s*[BW]\s*\[\s*[A-Za-z]{{0,2}}\s*\](?={_FOLLOW_TEXT.pattern})"
_IN_TEXT = re.compile(rf"\\.|\]|{_MOVE_AHEAD}", re.DOTALL)
_ROOT_NAMES = "AB AN AP AW BR BT CA CP DT EV FF GM GN HA KM ON OT PB PC PL PW RE RO RU SO ST SZ TM US WR WT"
_IN_NAME = re.compile(rf"{_IN_TEXT.pattern}|(?<![A-Za-z])(?:{_ROOT_NAMES.replace(' ', '|')})\[", re.DOTALL)
_UNESCAPED = re.compile(r"(\\.)|\]", re.DOTALL)

_FREE_TEXT = frozenset({"C", "GC"})
_NO_BRACKETS = frozenset({"B", "W", "AB", "AW", "AE", "PL", "SZ", "KM", "HA", "FF", "GM", "CA"})
_MAX_BRACKETS = 50  # unescaped ones in one value, so that a hostile file costs no more than its length


class _Mender:
    def __init__(self, text: str, problems: Problems) -> None:
        self.text = text
        self.problems = problems
        self.out = ["(;"]
        self._depth = 0
        self._bare = True  # no node since the last opening bracket
        self._has_move = False  # in the node being written

    def run(self) -> None:
        """Write the main line to `out`."""
        pos: int | None = self._start()
        while pos is not None:
            token = _TOKEN.match(self.text, pos)
            if token is None:
                self.problems.say("The record breaks off: its closing brackets are missing, moves may be lost.")
                return
            at = token.start(token.lastgroup or 0)
            match token.lastgroup:
                case "mark":
                    pos = self._mark(token["mark"], token.end())
                case "name":
                    pos = self._property(token["name"], at)
                case "value":
                    _, pos = self._value("", token.end())
                    self._at(at, "a value without a property was skipped.")
                case _:
                    pos = self._junk(at)

    def _start(self) -> int | None:
        if found := _START.search(self.text) or _DOUBTFUL_START.search(self.text):
            begin = found.start()
        elif found := _HEADLESS.search(self.text):
            begin = found.start()
            self.problems.say("The opening bracket '(;' is missing.")
        else:
            self.problems.say("The file holds no SGF game.")
            return None
        if self.text[:begin].strip("\ufeff\x00 \t\r\n"):
            self.problems.say(f"{begin} character(s) before the game were skipped.")
        return begin

    def _mark(self, mark: str, after: int) -> int | None:
        if mark == ";":
            self._node()
        elif mark == "(":
            self._depth += 1
            self._bare = True
        elif self._bare and self._depth > 1:
            self._depth -= 1
            self._at(after - 1, "an empty variation was skipped.")
        else:
            self._rest(after, self._depth - 1)
            return None
        return after

    def _node(self) -> None:
        if len(self.out) > 1 or not self._bare:
            self.out.append(";")
        self._bare = self._has_move = False

    def _property(self, written: str, at: int) -> int:
        name = re.sub("[a-z]", "", written)
        if not name:
            name = written.upper()
            self._at(at, f"property {shown(written)} is in small letters and was read as {name[:20]}.")
        if self._bare:
            self._at(at, f"the semicolon before property {name[:20]} is missing.")
            self._node()
        if name in ("B", "W"):
            if self._has_move:
                self._at(at, "a second move in one node was read as the next move.")
                self._node()
            self._has_move = True
        values = []
        pos = at + len(written)
        while opened := _OPEN.match(self.text, pos):
            value, pos = self._value(name, opened.end())
            if value is not None:
                values.append("[" + value + "]")
        if values:
            self.out += [name, *values]
        return pos

    def _value(self, name: str, start: int) -> tuple[str | None, int]:
        """Raw value that starts after its bracket, escaped, and where reading goes on; None if it never ends."""
        text = self.text
        if name in ("B", "W") and (unclosed := _UNCLOSED_MOVE.match(text, start)):
            self._at(start, f"the closing bracket of {name}[{unclosed[1]}] is missing.")
            return unclosed[1], unclosed.end()
        follow = _FOLLOW_TEXT if name in _FREE_TEXT else _FOLLOW
        plain = _PLAIN.match(text, start)
        if plain and (name in _NO_BRACKETS or follow.match(text, plain.end())):
            return plain[1], plain.end()
        brackets: list[int] = []
        for special in (_IN_TEXT if name in _FREE_TEXT else _IN_NAME).finditer(text, start):
            at = special.start()
            if special[0] == "]":
                if name in _NO_BRACKETS or follow.match(text, at + 1):
                    if brackets:
                        self._at(brackets[0], f"an unescaped bracket was read as text of {name[:20]}.")
                    return _escaped(text[start:at]), at + 1
                brackets.append(at)
                if len(brackets) == _MAX_BRACKETS:
                    break
            elif special[0][0] != "\\":
                self._at(start, f"the closing bracket of {name[:20]} is missing.")
                return _escaped(text[start:at]), at
        if brackets:
            return _escaped(text[start : brackets[0]]), brackets[0] + 1
        self._at(start, f"the record breaks off inside property {name[:20]}.")
        return None, len(text)

    def _junk(self, at: int) -> int:
        found = _JUNK_END.search(self.text, at + 1)
        end = found.start() if found else len(self.text)
        self._at(at, f"unreadable text '{shown(self.text[at:end])}' was skipped.")
        return end

    def _rest(self, pos: int, depth: int) -> None:
        """After the main line: count the brackets and the games that follow."""
        games = 1
        closed_at = pos if depth <= 0 else None
        for token in _TAIL.finditer(self.text, pos):
            if token[0] == "(":
                if depth <= 0 and _START.match(self.text, token.start()):
                    games += 1
                depth = max(depth, 0) + 1
            elif token[0] == ")":
                depth -= 1
                if depth == 0 and closed_at is None:
                    closed_at = token.end()
        if games > 1:
            self.problems.say(f"The file holds {games} games; only the first was read.")
        elif closed_at is None:
            self.problems.say(f"{depth} closing bracket(s) are missing at the end; only variations can be lost.")
        elif _HEADLESS.search(self.text, closed_at):
            self._at(closed_at, "what follows the closing bracket of the game was not read.")

    def _at(self, pos: int, problem: str) -> None:
        self.problems.at(self.text, pos, problem)


def _escaped(value: str) -> str:
    return _UNESCAPED.sub(lambda found: found[1] or r"\]", value)


def shown(text: str) -> str:
    """A short printable form of text from the file, for a message."""
    line = "".join(char if char.isprintable() else " " for char in text[:41])
    return line if len(line) <= 40 else line[:39] + "…"
