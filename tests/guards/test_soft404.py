import pytest

from honeyguide.contracts import Page
from honeyguide.guards.copies import is_soft_404, mentions_error

ARTICLE = "Bees make honey from nectar, and people have gathered it for a very long time. " * 20


def page(title, text=""):
    return Page("http://x.example/a", title, text)


@pytest.mark.parametrize(
    "title",
    [
        "404",
        "Error 404",
        "404 Not Found",
        "404 - Page not found | Honey World",
        "Honey World – Page Not Found",
        "Oops! That page could not be found",
        "Page no longer exists",
        "Seite nicht gefunden - Honigwelt",
        "Page introuvable",
        "Página no encontrada",
        "Página não encontrada",
        "Pagina non trovata",
        "Pagina niet gevonden",
        "Страница не найдена",
        "页面不存在",
        "ページが見つかりません",
        "페이지를 찾을 수 없습니다",
    ],
)
def test_a_missing_page_is_known_by_its_title(title):
    assert is_soft_404(page(title, "Go back to the start."))


@pytest.mark.parametrize(
    "text",
    [
        "Sorry, the page you are looking for could not be found.",
        "We can't find the page you requested. Try the search.",
        "The document you have accessed no longer exists.",
        "Die gewünschte Seite wurde leider nicht gefunden.",
        "La page demandée n'existe pas.",
        "La página que busca no existe.",
        "Запрашиваемая страница не найдена",
        "抱歉，您访问的页面不存在。",
        "お探しのページは見つかりませんでした。",
    ],
)
def test_a_missing_page_is_known_by_what_little_it_says(text):
    assert is_soft_404(page("Honey World", text))


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("404 Not Found", ARTICLE),  # an encyclopedia's article on the status code
        ("404 Not Found - Encyclopedia", "The status 404 Not Found is sent by servers. " + ARTICLE),
        ("Honey", "Much of what was lost could not be found again. " + ARTICLE),
        ("Room 404", "A hotel in the old town with a view of the sea."),
        ("Lost and found", "Bring what you found to the office."),
        ("How to fix a page not found error", "Check the address first."),
        ("Honey", "The best honey is found in May."),
        ("", ""),
    ],
)
def test_a_real_page_is_not_taken_for_a_missing_one(title, text):
    assert not is_soft_404(page(title, text))


def test_trouble_is_only_suspected_of_short_pages():
    assert mentions_error(page("Error", "Something went wrong."))
    assert not mentions_error(page("Error", ARTICLE))
    assert not mentions_error(page("Honey", "A short page about honey."))
