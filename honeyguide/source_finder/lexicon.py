"""Words of menus and headings in many languages, by what the page behind them is."""
# ruff: noqa: E501 - a row of words reads best unbroken

import re
from functools import cache, lru_cache

from honeyguide.text.unaccented import unaccented

# "word" is a whole word, "word*" its beginning, "*word*" any part of a word; accents do not count.
# "what's_on" is two words. In scripts without spaces every entry is a part; | only parts languages.
_WORDS = {
    "events": """
        event events event* what's_on | whats_on | what_s_on | whatson | calendar calendars diary agenda happenings happening seminars seminar colloquia colloquium
        lectures talks fixtures fixture screenings showtimes exhibitions concerts gigs performances meetups meetup webinars
        things_to_do | dates_for_your_diary | coming_up | upcoming | box_office | listings
        veranstaltung* *veranstaltungen* termin termine termine* terminkalender kalender *kalender* spielplan konzerte vortrage ausstellungen vorstellungen
        veranstaltungskalender vereinskalender programmkalender jahresprogramm wochenprogramm | was_ist_los | fuhrungen lesungen
        evenement* agenda calendrier manifestations rendez_vous | rendez-vous | spectacles seances expositions seminaires conferences sorties | a_l'affiche | quoi_de_neuf
        evento eventos agenda calendario actividades proximos proximas charlas conciertos exposiciones funciones cartelera seminarios jornadas | que_hacer | convocatorias
        eventi evento calendario appuntamenti appuntamento manifestazioni manifestazione mostre concerti spettacoli seminari incontri rassegna | in_programma | prossimi
        evenementen agenda kalender activiteiten activiteitenkalender *agenda voorstellingen tentoonstellingen lezingen concerten optredens bijeenkomsten
        agenda eventos calendario atividades programacao exposicoes espetaculos palestras concertos seminarios
        wydarzenia wydarzen* kalendarz* kalendarium imprezy imprez* terminarz repertuar koncerty wystawy spotkania seminaria harmonogram
        arrangementer arrangement* kalender aktivitetskalender *kalender begivenheder begivenhed* terminliste konserter koncerter forestillinger foredrag | hvad_sker_der | hva_skjer | det_skjer
        evenemang* kalendarium kalender kalendern aktiviteter arrangemang forestallningar forelasningar | pa_gang | vad_hander
        tapahtuma* tapahtumat tapahtumakalenteri kalenteri ohjelmisto naytokset naytelmat konsertit
        akce kalendar_akci | kalendar_akci | udalosti podujatia terminy prednasky vystavy | program_akci
        esemenyek esemeny* rendezvenyek rendezveny* programok esemenynaptar naptar musor
        evenimente eveniment* calendar agenda | manifestari
        etkinlik* etkinlikler takvim takvimi seminerler duyurular
        εκδηλωσ* ημερολογιο προγραμμα
        событи* мероприяти* афиша календарь расписание семинары концерты выставки подія події подии заходи афіша календар
        dogadanja dogadaji dogodki dogodek koledar kalendar raspored manifestacije | събития календар
        esdeveniment* agenda calendari activitats actes xerrades concerts exposicions programacio
        ekitaldi* agenda egutegia | axenda eventos actividades
        acara kegiatan agenda kalender jadwal | su_kien | lich | sự_kiện | lịch
        فعاليات الفعاليات أحداث تقويم | אירועים לוח
        renginiai pasakumi uritused sundmused sundmus* syndmused vidburdir dagatal
        イベント 催し 行事 予定 カレンダー スケジュール 日程 公演 上映 展覧会 セミナー 講演会 研究会 例会 定例会 年間行事 活動予定 コンサート 講座 大会 試合日程 礼拝
        행사 이벤트 일정 캘린더 달력 공연 전시 세미나 강연 모임
        活动 活動 日历 日曆 行事曆 行事历 议程 演出 展览 展覽 讲座 講座 研讨会 研討會 学术报告 年會 年会 会议 會議 节目 節目 赛程 賽程 课程表 聚会 聚會 演講 音樂會 表演 场次 場次""",
    "maybe": """
        schedule schedules programme programmes program programs timetable services worship classes class meetings meeting sessions session workshops workshop conferences conference
        activities matches races tournaments dates date tickets season shows show tours courses training | join_us | attend | visit_us | where_we'll_be | meet_us | gatherings socials rides rehearsals clubs
        programm programme aktivitaten treffen gottesdienste gottesdienst kurse kurs seminare spiele spieltermine vorschau tagungen ubungen probe proben workshops stammtisch
        programme activites reunions cours ateliers matchs messes horaires animations fetes fete stages rencontres programmation
        programa programacion talleres reuniones cursos partidos horarios misas fiestas fechas encuentros
        programma attivita corsi riunioni partite messe orari iniziative incontro laboratori
        programma wedstrijden cursussen diensten trainingen lessen speelschema vergadering* bijeenkomst workshops
        programa programas horarios missas cursos reunioes encontros jogos oficinas festas
        program programy zajecia warsztaty mecze msze kursy rozklad nabozenstwa | plan_zajec
        program programmet aktiviteter moter mote gudstjenester kurs kamper trening gudstjenste moder gudstjanster kurser matcher traningar traffar klubbaften
        ohjelma toiminta kurssit kokoukset ottelut jumalanpalvelukset
        program programy kurzy zapasy bohosluzby rozvrh setkani schuzky
        program tanfolyamok misek | programm uritused | программа занятия курсы встречи матчи богослужения програма
        programa cursos tallers reunions horaris partits
        プログラム 活動 試合 教室 練習 講習会 集会 例会案内 ご案内 お知らせ 募集
        프로그램 수업 강좌 모임 예배 경기
        课程 課程 培训 培訓 比赛 比賽 聚会 崇拜 項目 项目 安排 时间表 時間表 礼拜 禮拜 工作坊""",
    "news": """
        news newsroom blog latest updates announcements headlines stories press bulletin newsletter posts | media_centre | media_center | media_releases
        neuigkeiten nachrichten aktuelles aktuell meldungen presse pressemitteilungen neues mitteilungen berichte
        actualites actualite nouvelles actus actu presse infos communiques
        noticias noticia novedades prensa actualidad comunicados avisos
        notizie novita news comunicati avvisi stampa
        nieuws berichten nieuwsbrief pers actueel
        noticias novidades imprensa avisos comunicados informes
        aktualnosci wiadomosci nowosci komunikaty ogloszenia prasa
        nyheter nyheder nyhet* nyhed* aktuelt aktuellt presse
        uutiset ajankohtaista tiedotteet | aktuality novinky zpravy spravy | hirek ujdonsagok | stiri noutati anunturi | haberler haber | νεα ανακοινωσεις
        новости новини пресса | vijesti novice novosti vesti | noticies actualitat | berriak | novas | berita | tin_tuc | أخبار חדשות | naujienos jaunumi uudised frettir
        ニュース 新着 最新情報 お知らせ ブログ プレス 更新情報 トピックス
        뉴스 소식 공지 보도 블로그
        新闻 新聞 消息 公告 动态 動態 资讯 資訊 快讯 快訊 博客 部落格""",
    "jobs": """
        jobs job careers career vacancies vacancy openings | work_with_us | work_for_us | join_our_team | employment opportunities recruitment hiring positions
        stellenangebote stellen karriere jobs offene stellenanzeigen ausschreibungen | emplois emploi carrieres recrutement | empleo empleos trabajo vacantes | lavoro carriere offerte bandi
        vacatures werken | vagas emprego carreiras | praca kariera oferty rekrutacja | ledige_stillinger jobb karriar | tyopaikat rekry | kariera volna | allasok karrier | cariere joburi | kariyer
        вакансии вакансії карьера | feina ofertes | 採用 求人 募集 | 채용 | 招聘 招募 求职 工作机会 徵才 职位""",
    "people": """
        people staff team faculty members member person persons researchers directory | our_team | who_we_are | alumni board committee leadership
        personen mitarbeiter* team mitglieder vorstand ansprechpartner leute | equipe membres personnes personnel annuaire | equipo personas miembros personal profesorado
        persone membri squadra staff docenti personale | medewerkers leden mensen bestuur | equipa pessoas membros docentes corpo | zespol pracownicy ludzie czlonkowie
        ansatte medarbejdere medlemmer personal styret medarbetare | henkilosto jasenet | lide zamestnanci | munkatarsak tagok | oameni echipa | kisiler ekip | сотрудники люди команда
        equip persones membres | メンバー スタッフ 教員 人々 会員 | 사람들 구성원 교수진 | 团队 團隊 成员 成員 人员 人員 师资 師資""",
    "publications": """
        publications publication papers paper articles research preprints reports proceedings journal theses bibliography
        publikationen veroffentlichungen aufsatze | publications articles travaux | publicaciones articulos | pubblicazioni articoli | publicaties artikelen | publicacoes artigos
        publikacje artykuly | publikasjoner publikationer artikler artiklar | julkaisut | publikace clanky | publikaciok | publicatii | yayinlar | публикации статьи
        publicacions articles | 論文 業績 出版 | 논문 출판 연구성과 | 论文 論文 出版物 发表 發表 成果""",
    "hub": """
        about about_us | community | get_involved | participate | discover | explore | visit | visitors | members_area | student_life | campus_life | life | culture | leisure | more | learn
        media |  | news_and_events | information | info | department departments research public outreach engagement our_work | what_we_do | activities | for_members | club | society | resources | home | menu | overview | all | see_all | view_all
        uber_uns | gemeinschaft | verein | mitmachen | besuch besuchen | kultur freizeit | angebote angebot | gemeinde | service | ubersicht | alle | mehr | leben | stadt | schule | forschung
        a_propos | association | decouvrir | participer | visiter | vie vie* culture loisirs | communaute | activites | accueil | plus | tous toutes | voir_tout | infos
        acerca nosotros | comunidad | participa | visita visitanos | cultura ocio | vida | todos todas | ver_todo | mas | inicio
        chi_siamo | comunita | partecipa | visita | cultura | vita | tutti tutte | associazione | home
        over over_ons | gemeenschap | doe_mee | bezoek | cultuur | vereniging | alle | meer | leven
        sobre | comunidade | participe | visite | cultura lazer | vida | todos | mais | associacao
        o_nas | spolecznosc | kultura | zycie | wszystkie | wiecej | stowarzyszenie | dla_zwiedzajacych
        om om_oss | om_os | fellesskap forening foreningen klubben medlem besok besog | kultur fritid | alle alla | mer mere | opplev oplev
        meista yhdistys | o_nas | rolunk | despre | hakkimizda | о нас сообщество культура жизнь | sobre_nosaltres qui_som | entitat
        について 概要 活動内容 活動紹介 団体 コミュニティ 案内 紹介 一覧 もっと見る 詳細 学生生活 文化
        소개 커뮤니티 안내 활동 더보기 전체 문화 학생활동
        关于 關於 社区 社區 参与 參與 文化 生活 更多 全部 校园 校園 组织 組織 概况 概況 服务 服務 参观 參觀""",
    "decoy": """
        hire hiring hire_our | rental rentals rent catering caterer venue venues wedding weddings private party parties corporate policy policies form forms application apply guidelines
        api apis hooks handler handlers listener listeners callback reference docs documentation javascript webhook webhooks | sponsor sponsors sponsorship donate shop store buy furniture marquee equipment supplies
        privacy cookies terms imprint contact login sign register registration | tax bin collection collections refuse academic exam exams term_dates | holiday holidays
        vermietung mieten raume catering hochzeit hochzeiten datenschutz impressum kontakt anmeldung hygiene* vorschriften satzung miete | location salle salles traiteur mariage mariages mentions inscription contact reglement
        alquiler bodas catering privacidad contacto reglamento inscripcion | affitto noleggio matrimoni catering contatti privacy iscrizione regolamento | verhuur huren zaalverhuur bruiloft contact inschrijven reglement
        aluguer aluguel casamentos contato contacto regulamento inscricao | wynajem wesela kontakt regulamin polityka zapisy | utleie udlejning uthyrning kontakt bryllup brollop vedtekter vedtaegter
        貸切 会場利用 レンタル 施設利用 お問い合わせ 申込 規約 プライバシー アクセス | 대관 대여 문의 신청 약관 | 租借 场地 場地 出租 婚宴 婚礼 联系 聯絡 报名表 隐私 隱私 政策 表格 申请 申請 围栏 圍欄""",
    "past": """
        past previous archive archives archived history old former recap recaps photos photo gallery galleries pictures report reports review minutes results videos recordings album | last_year
        vergangene fruhere archiv ruckblick fotos bilder galerie berichte protokolle ergebnisse bisherige | passes passees archives photos galerie compte_rendu resultats historique
        pasados anteriores archivo fotos galeria historia resultados | passati archivio foto galleria storia edizioni precedenti | afgelopen archief foto foto's verslag verslagen geschiedenis uitslagen
        anteriores arquivo fotos galeria historia resultados | archiwum galeria zdjecia historia wyniki relacje minione | tidligere arkiv bilder billeder historie resultater tidigare bildgalleri referat*
        menneet arkisto kuvat | archiv minule | archivum korabbi kepek | arhiva galerie | arsiv | архив прошедшие фото | passats arxiu fotos
        過去 アーカイブ 写真 記録 報告 歴史 結果 ギャラリー | 지난 갤러리 사진 아카이브 후기 | 历届 歷屆 过往 過往 往期 回顾 回顧 相册 相簿 历史 歷史 照片 存档 存檔 纪录 紀錄 成绩""",
    "coming": """
        upcoming forthcoming next future coming soon this_week | this_month | today | tomorrow | join | register_now | book_now | tickets | save_the_date | rsvp | sign_up
        kommende bevorstehende nachste demnachst heute | prochains prochain prochaines a_venir | bientot | proximos proximas proximo | prossimi prossimo | prossime | komende aankomende volgende binnenkort
        nadchodzace najblizsze | kommende kommande neste naeste nasta | tulevat | nadchazejici pristi | kovetkezo | urmatoarele | yaklasan | ближайшие предстоящие | propers properes vinent
        今後 次回 近日 開催予定 | 다가오는 예정 | 即将 即將 近期 下一场 下一場 未来 預告 预告""",
}  # fmt: skip
CONCEPTS = tuple(_WORDS)
KINDS = ("events", "news", "jobs", "people", "publications")
LONGEST = 400  # characters of a text that are read
_glued = re.compile("[\u0e00-\u0eff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]").search
_split = re.compile(r"[^\w']+|_+|(?<=\d)(?=[^\W\d])").split


@lru_cache(50_000)
def plain(text: str) -> str:
    """Return a text in small letters without accents, one space between words."""
    low = unaccented(text[:LONGEST]).replace("’", "'")
    return " ".join(word for word in _split(low) if word)


@cache
def _pattern(concept: str) -> re.Pattern[str]:
    """Return the pattern of a concept's words in plain text."""
    forms = {_form(entry.replace("_", " ")) for entry in _WORDS[concept].split() if entry != "|"}
    return re.compile("|".join(sorted(forms, key=lambda form: (-len(form), form))))


def _form(entry: str) -> str:
    bare = plain(entry.strip("*"))
    core = re.escape(bare).replace(r"\ ", " ")
    if _glued(bare):
        return core
    before = r"\w*" if entry.startswith("*") else r"\b"
    after = r"\w*" if entry.endswith("*") else r"\b"
    return before + core + after


@lru_cache(50_000)
def shares(text: str) -> tuple[float, ...]:
    """Return for each concept the share of a text's signs that its words cover, 0 to 1."""
    said = plain(text)
    whole = max(len(said.replace(" ", "")), 1)
    return tuple(
        min(1.0, sum(len(m[0].replace(" ", "")) for m in _pattern(c).finditer(said)) / whole)
        for c in CONCEPTS
    )
