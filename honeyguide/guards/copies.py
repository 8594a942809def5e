"""Detects near-duplicate pages, by fingerprints of their text, and soft 404s."""

import hashlib
import re
from array import array
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from honeyguide.columns import Columns
from honeyguide.contracts import Page, State

Hashes = NDArray[np.uint64]

LANES = 64  # bytes of a fingerprint
BANDS = 6  # of 4 lanes each: texts with 80 % of phrases in common share a band in 24 of 25 cases
BUCKETS = 1 << 17  # of a band, with a chain each
LOOKS = 100  # entries of a chain that are compared, so that no site can slow the crawl down
FEW_WORDS = 64  # texts with fewer words are duplicates only if they are equal word for word
SOMEWHAT_ALIKE = 0.3  # share of phrases in common below which two texts are not one page
LONGEST = 1 << 14  # bytes of a text that are hashed

_SPACE = 32
# lower-cases ASCII letters, turns other ASCII characters into spaces, keeps bytes above 127
_SMALL = bytes(
    (byte | 32 if 65 <= byte <= 90 else byte) if byte >= 128 or chr(byte).isalnum() else _SPACE
    for byte in range(256)
)
_BASE = 0x9E3779B97F4A7C15  # odd, so that it has an inverse modulo 2**64
_MIX = np.uint64(0xBF58476D1CE4E5B9)  # both from splitmix64
_STIR = np.uint64(0x94D049BB133111EB)
_HALF = np.uint64(31)


_LANE = np.uint64(58)  # the top 6 bits of a hash are its lane
_MOST = np.uint64(2**64 - 1)
_ODD = np.uint32(0x9E3779B1)


def fingerprint(text: str) -> bytes:
    """A 64-byte minhash; equal bytes of two texts estimate their share of three-word phrases.

    One-permutation minhash (Li, Owen and Zhang, 2012), one byte of each minimum; zero is an
    empty lane. A text without words has an empty fingerprint.
    """
    words = _word_hashes(text)
    if len(words) < FEW_WORDS:
        return hashlib.blake2b(words.tobytes(), digest_size=LANES).digest() if len(words) else b""
    phrases = (words[:-2] * _MIX + words[1:-1]) * _STIR + words[2:]
    phrases ^= phrases >> _HALF
    phrases *= _MIX
    phrases ^= phrases >> _HALF
    least = np.full(LANES, _MOST)
    np.minimum.at(least, (phrases >> _LANE).astype(np.intp), phrases)
    lanes = np.maximum(least.astype(np.uint8), 1)
    lanes[least == _MOST] = 0
    return lanes.tobytes()


def _word_hashes(text: str) -> Hashes:
    """A hash of every word in order; Chinese and Japanese characters are words."""
    raw = text[:LONGEST].encode("utf-8", "surrogatepass")[:LONGEST].translate(_SMALL)
    letters = np.frombuffer(b" " + raw + b" ", np.uint8)
    inside = letters != _SPACE
    first = inside[1:] & ~inside[:-1]
    if not raw.isascii():
        sign = (letters[1:] >= 0xE3) & (letters[1:] <= 0xE9)  # lead bytes of U+3000 to U+9FFF
        first |= sign
    last = inside[1:-1] & (~inside[2:] | first[1:])
    starts, ends = np.flatnonzero(first[:-1]), np.flatnonzero(last) + 1
    powers, inverses = _powers()
    sums = np.zeros(len(raw) + 1, np.uint64)
    np.multiply(letters[1:-1], powers[: len(raw)], out=sums[1:])
    np.cumsum(sums, out=sums)  # modulo 2**64, so that the sum of a word is a difference
    hashes: Hashes = (sums[ends] - sums[starts]) * inverses[starts]
    return hashes


@cache
def _powers() -> tuple[Hashes, Hashes]:
    """Powers of _BASE and of its inverse, modulo 2**64."""
    tables = []
    for base in (_BASE, pow(_BASE, -1, 1 << 64)):
        factors = np.full(LONGEST, base, np.uint64)
        factors[0] = 1
        tables.append(np.multiply.accumulate(factors))
    return tables[0], tables[1]


class NearDuplicate(NamedTuple):
    """An earlier page whose text is nearly the same."""

    slot: int
    page: int  # its number in Memory
    address: int  # checksum of its URL
    repeats: int  # near-duplicates of it found so far


class Fingerprints:
    """An index of the latest fingerprints, searched by similarity (locality-sensitive hashing).

    Each band has, for each bucket of its four lanes, a chain of places, newest first. A place is
    a running number; a chain ends where the oldest place has been overwritten.
    """

    def __init__(
        self,
        capacity: int = 1 << 19,  # pages, of 102 bytes each
        alike: float = 0.8,  # share of three-word phrases in common
    ) -> None:
        self.capacity = capacity
        self.alike = alike
        self._count = 0  # ever added
        self._rows = Columns(
            lanes=(np.uint8, LANES),
            page=np.int32,
            address=np.uint32,
            canonical=np.uint32,  # checksum of the URL that the page prefers
            repeats=np.uint16,
        )
        self._heads = [array("i", [-1]) * BUCKETS for _ in range(BANDS)]
        self._older = [array("i") for _ in range(BANDS)]

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def nbytes(self) -> int:
        """Size of its tables in bytes, those of fixed size aside."""
        return self._rows.nbytes + BANDS * 4 * len(self)

    def find(self, fingerprint: bytes) -> NearDuplicate | None:
        """The most similar earlier page, if it is similar enough."""
        slots = self._candidates(fingerprint)
        if not slots:
            return None
        shares = self._shares(fingerprint, slots)
        best = int(shares.argmax())
        if shares[best] < self.alike:
            return None
        return self._at(slots[best])

    def of_canonical(self, canonical: int) -> list[NearDuplicate]:
        """The latest pages with this checksum of their canonical URL, the earliest first."""
        slots = np.flatnonzero(self._rows["canonical"] == canonical)[-LOOKS:].tolist()
        return [self._at(slot) for slot in slots]

    def resembles(self, fingerprint: bytes, pages: Sequence[NearDuplicate]) -> bool:
        """Whether a text has a good part of its phrases in common with one of these pages."""
        shares = self._shares(fingerprint, [page.slot for page in pages])
        return bool(shares.max() >= SOMEWHAT_ALIKE)

    def add(
        self, fingerprint: bytes, page: int, address: int, canonical: int | None = None
    ) -> None:
        """Add a fingerprint, in place of the oldest if the index is full."""
        slot = self._count % self.capacity
        if slot == len(self):
            self._rows.add(1)
            for older in self._older:
                older.append(-1)
        rows = self._rows
        rows["lanes"][slot] = np.frombuffer(fingerprint, np.uint8)
        rows["page"][slot], rows["address"][slot], rows["repeats"][slot] = page, address, 0
        rows["canonical"][slot] = address if canonical is None else canonical
        for heads, older, bucket in zip(
            self._heads, self._older, _buckets(rows["lanes"][slot]).tolist(), strict=True
        ):
            older[slot] = heads[bucket]
            heads[bucket] = self._count
        self._count += 1

    def repeat(self, near: NearDuplicate) -> None:
        """Count one more near-duplicate of a page."""
        self._rows["repeats"][near.slot] = min(near.repeats + 1, 65_535)

    def state(self) -> State:
        """All rows, oldest first."""
        turn = -(self._count % self.capacity) if self._count > self.capacity else 0
        return {name: np.roll(rows, turn, axis=0) for name, rows in self._rows.state().items()}

    def load(self, state: State) -> None:
        """Restore a saved state."""
        known = {"canonical": state["address"], **state}  # 0.2 did not store it
        self._rows.load({name: rows[-self.capacity :] for name, rows in known.items()})
        self._count = len(self)
        buckets = _buckets(self._rows["lanes"])
        for band in range(BANDS):
            self._heads[band], self._older[band] = _chains(buckets[:, band])

    def _at(self, slot: int) -> NearDuplicate:
        page, address, repeats = (
            int(self._rows[name][slot]) for name in ("page", "address", "repeats")
        )
        return NearDuplicate(slot, page, address, repeats)

    def _shares(self, fingerprint: bytes, slots: list[int]) -> NDArray[np.float64]:
        """The estimated shares of phrases that a text has in common with earlier ones."""
        mine, theirs = np.frombuffer(fingerprint, np.uint8), self._rows["lanes"][slots]
        same = np.count_nonzero((mine == theirs) & (mine > 0), axis=1)
        shares: NDArray[np.float64] = same / np.count_nonzero(mine | theirs, axis=1)
        return shares

    def _candidates(self, fingerprint: bytes) -> list[int]:
        """The slots of fingerprints that share a bucket in any band."""
        oldest = max(0, self._count - self.capacity)
        buckets = _buckets(np.frombuffer(fingerprint, np.uint8)).tolist()
        found: dict[int, None] = {}
        for heads, older, bucket in zip(self._heads, self._older, buckets, strict=True):
            place = heads[bucket]
            for _ in range(LOOKS):
                if place < oldest:
                    break
                slot = place % self.capacity
                found[slot] = None
                place = older[slot]
        return list(found)


def _buckets(lanes: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """The bucket of each band, for one fingerprint or for many."""
    bands = lanes.view(np.uint32)[..., :BANDS] * _ODD
    buckets: NDArray[np.uint32] = bands >> np.uint32(15)
    return buckets


def _chains(buckets: NDArray[np.uint32]) -> "tuple[array[int], array[int]]":
    """The newest place in each bucket, and for each place the next older one of its bucket."""
    order = np.argsort(buckets, kind="stable").astype(np.int32)
    older = np.full(len(buckets), -1, np.int32)
    same = buckets[order[1:]] == buckets[order[:-1]]
    older[order[1:][same]] = order[:-1][same]
    heads = np.full(BUCKETS, -1, np.int32)
    np.maximum.at(heads, buckets, np.arange(len(buckets), dtype=np.int32))
    return array("i", heads.tobytes()), array("i", older.tobytes())


SHORT = 1200  # characters; a soft 404 is not longer
VERY_SHORT = 300

_NOT_FOUND = (  # patterns of a whole title, or of its part before or after the name of the site
    r"(?:the |this |that |requested |web ?)*(?:page|file|document|content|url|resource|article)?"
    r"(?: you (?:requested|are looking for))?(?: (?:was|is|could|can))? ?"
    r"(?:not|no longer|cannot|can't|couldn't)(?: be)? (?:found|available|exist|located)",
    r"(?:page|file|document|content|article) (?:does not|doesn't|no longer) exists?",
    r"(?:page|file|content|article) (?:missing|removed|deleted|unavailable|gone)",
    r"missing page|nothing found|no such page|no results? found",
    r"(?:diese |die |angeforderte )*(?:seite|datei|dokument) (?:wurde )?(?:leider )?nicht"
    r" (?:gefunden|vorhanden|verfügbar)|nicht gefunden",
    r"(?:cette |la |page |document |fichier )*(?:introuvable|non trouvée?|inexistante?"
    r"|n'existe (?:pas|plus))",
    r"(?:la |esta |página |pagina |recurso )*no (?:encontrad[ao]|existe|disponible|se encuentra)"
    r"|página no se ha encontrado",
    r"(?:a |esta |página |arquivo )*não (?:encontrad[ao]|existe|disponível)",
    r"(?:la |pagina |file )*non (?:è stata )?(?:trovat[ao]|esiste|disponibile)",
    r"(?:de |deze |pagina |bestand )*(?:kan )?niet (?:worden )?(?:gevonden|bestaat|beschikbaar)",
    r"(?:nie znaleziono|brak) (?:strony|pliku)|strona nie (?:istnieje|została znaleziona)",
    r"(?:запрашиваемая )?(?:страница|файл|документ) не (?:найдена?|существует)|не найдено",
    r"(?:sayfa|sayfası) bulunamadı|(?:stránka|sidan|siden|sivua) (?:nebyla nalezena|nenalezena"
    r"|kunde inte hittas|hittades inte|(?:blev |ble )?ikke funnet|(?:blev )?ikke fundet|ei löydy)",
    r"(?:您访问的|您要找的|抱歉|，)*(?:页面|网页|頁面|網頁|文件)(?:不存在|未找到|没有找到|找不到|已删除)",
    r"找不到(?:该|此|您要的)?(?:页面|网页|頁面|網頁)",
    r"(?:お探しの|指定された)?(?:ページ|ファイル)(?:が|は)(?:見つかりません|存在しません)(?:でした)?",
    r"(?:요청하신 )?페이지를 찾을 수 없습니다|الصفحة غير موجودة|הדף לא נמצא|ไม่พบหน้า",
)
_CODE = (
    r"(?:http |status |error |fehler |erreur |errore |erro |ошибка |code |错误 )*:? ?(?:404|410)"
)
_missing_title = re.compile(
    rf"(?:oops|sorry|whoops|hoppla|désolé)?[!., ]*(?:{_CODE}(?: error)?"
    rf"|(?:{_CODE}[ :,.-]*)?(?:{'|'.join(_NOT_FOUND)})(?:[ ,:-]*{_CODE})?)[.!。 ]*",
    re.IGNORECASE,
).fullmatch
_parts = re.compile(r"\s+[-–—|·•»«:/]+\s+|\s*[|»«·•–—]\s*|:\s+").split

_missing_text = re.compile(
    r"(?:page|file|document|url|address|content|resource|article)[^.!?]{0,80}?"
    r"(?:(?:not|n't|cannot|can't|n’t)(?: be)? (?:found|exist|available|find|locate)"
    r"|no longer (?:exist|available|here)|(?:has|have) been (?:removed|deleted))"
    r"|(?:not|n't|n’t|cannot|unable to)(?: be able to)? (?:find|locate)[^.!?]{0,40}?"
    r"(?:page|file|document|url|you(?:'re| are| were|’re) looking for)"
    r"|(?:seite|datei|dokument)[^.!?]{0,80}?nicht (?:gefunden|vorhanden|existiert|verfügbar)"
    r"|page[^.!?]{0,80}?(?:introuvable|n['’]existe (?:pas|plus)|n['’]a pas été trouvée)"
    r"|p[áa]gina[^.!?]{0,80}?(?:no (?:existe|encontrada|se encuentra|se ha encontrado|ha sido)"
    r"|não (?:existe|encontrada|foi encontrada)|non (?:esiste|trovata|è stata trovata)"
    r"|niet (?:gevonden|bestaat|worden gevonden))"
    r"|страница[^.!?]{0,80}?не (?:найдена|существует)|strona[^.!?]{0,80}?nie istnieje"
    r"|(?:页面|网页|頁面|網頁)[^。]{0,20}?(?:不存在|未找到|没有找到|找不到|已删除)"
    r"|ページ[^。]{0,30}?(?:見つかりません|存在しません|ありません)|페이지를 찾을 수 없",
    re.IGNORECASE,
).search
_error_words = re.compile(
    r"error|not found|404|410|sorry|oops|unavailable|expired|missing|invalid|denied|moved"
    r"|fehler|nicht gefunden|erreur|introuvable|désolé|no encontrad|não encontrad|errore?\b"
    r"|ошибка|не найден|错误|不存在|エラー|見つかりません|오류",
    re.IGNORECASE,
).search


def is_soft_404(page: Page) -> bool:
    """Whether a short page only says that a page is missing."""
    if len(page.text) > SHORT:
        return False
    brief = len(page.text) < VERY_SHORT
    if title_says_missing(page.title):
        return brief or _missing_text(page.text[:VERY_SHORT]) is not None
    return brief and _missing_text(page.text) is not None


def title_says_missing(title: str) -> bool:
    """Whether a title says that a page is missing, with or without the name of a site."""
    return any(_missing_title(part.strip()) for part in _parts(title[:200]) if part)


def mentions_error(page: Page) -> bool:
    """Whether a short page mentions an error: suspicious when a site repeats it."""
    if len(page.text) > SHORT:
        return False
    return _error_words(page.title) is not None or _error_words(page.text[:VERY_SHORT]) is not None
