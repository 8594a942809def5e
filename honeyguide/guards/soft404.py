"""Soft 404s: pages that answer "200 OK" and say that there is no such page."""

import re

from honeyguide.contracts import Page

SHORT = 1200  # characters; a missing page has little more to say
VERY_SHORT = 300

_NOT_FOUND = (  # what a title can be, whole or between the dashes that part it from a site's name
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
_troubled = re.compile(
    r"error|not found|404|410|sorry|oops|unavailable|expired|missing|invalid|denied|moved"
    r"|fehler|nicht gefunden|erreur|introuvable|désolé|no encontrad|não encontrad|errore?\b"
    r"|ошибка|не найден|错误|不存在|エラー|見つかりません|오류",
    re.IGNORECASE,
).search


def is_soft_404(page: Page) -> bool:
    """Whether a page does nothing but say that it is missing."""
    if len(page.text) > SHORT:
        return False
    brief = len(page.text) < VERY_SHORT
    if says_missing(page.title):
        return brief or _missing_text(page.text[:VERY_SHORT]) is not None
    return brief and _missing_text(page.text) is not None


def says_missing(title: str) -> bool:
    """Whether a title is that of a missing page, a site's name before or after it aside."""
    return any(_missing_title(part.strip()) for part in _parts(title[:200]) if part)


def is_troubled(page: Page) -> bool:
    """Whether a short page speaks of trouble: worth a doubt when a site repeats it."""
    if len(page.text) > SHORT:
        return False
    return _troubled(page.title) is not None or _troubled(page.text[:VERY_SHORT]) is not None
