"""Words of organisations' sites in twelve languages; every third of a row belongs to test sites."""
# ruff: noqa: E501 - a row of words reads best unbroken

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

TEST_EVERY = 3  # the third, sixth ... entry of a row is used by test sites alone
SHARED = frozenset({"months", "dates"})  # rows that all sites use


@dataclass(frozen=True, slots=True)
class Tongue:
    """The words of one language for training or for test sites, by purpose."""

    language: str
    rows: Mapping[str, Sequence[str]]

    def __getitem__(self, purpose: str) -> Sequence[str]:
        return self.rows[purpose]


@cache
def tongue(language: str, test: bool) -> Tongue:
    """Return the words of a language that test sites use, or those that other sites use."""
    rows: dict[str, list[str]] = {}
    for line in _TABLES[language].strip().splitlines():
        purpose, _, said = line.partition(":")
        texts = [text.strip() for text in said.split("|")]
        name = purpose.strip()
        rows[name] = texts if name in SHARED else _share(texts, test)
    return Tongue(language, rows)


def _share(texts: Sequence[str], test: bool) -> list[str]:
    return [text for at, text in enumerate(texts) if ((at + 1) % TEST_EVERY == 0) == test]


_TABLES = {
    "en": """
        events: Events | What's on | Events calendar | Calendar | Diary | Upcoming events | Our events | Agenda | Dates for your diary | Events & activities | Public events | Things to do | Talks and events | Event listings | Forthcoming events | All events | Events programme | What's happening
        special: Seminars | Colloquia | Fixtures | Screenings | Classes | Meetings | Exhibitions | Services | Concert programme | Lectures | Talks | Workshops and seminars | Timetable | Schedule | Matches | Performances | Worship times | Seminar series | Meetups | Gigs | Tournaments
        hubs: News & Events | Community | About | Get involved | About us | Visit | Discover | Student life | Members | Culture and leisure | Campus | What we do | Explore | Join in | Activities | Life here | Public engagement | Our work | For everyone | Participate | Take part
        plain: Contact | History | Opening times | How to find us | Privacy policy | Accessibility | Staff | Publications | Planning | Library | Shop | Support us | Membership | FAQ | Cookies | Complaints | Annual report | Links | Research | Directions | Parking | Governance | Downloads | Products | Pricing | Services we offer | Partners | Donate
        news: News | Latest news | Newsroom | Blog | Announcements | Stories
        jobs: Jobs | Vacancies | Careers | Work for us | Open positions | Join our team
        people: People | Our team | Staff directory | Members | Faculty | Who we are
        publications: Publications | Papers | Research output | Articles | Selected papers | Reports
        venue: Event hire | Host your event here | Weddings and private events | Catering for events | Event spaces | Corporate events
        policy: Event safety policy | Event application form | Guidance for event organisers | Event bylaws | Apply for an event permit | Code of conduct for events
        shop: Event furniture | Marquees for events | Event lighting | Tickets and gift cards | Event supplies | Event packages
        api: Events API | Event handlers | Event reference | Listening to events | Event types | Webhook events
        archive: Past events | Event archive | Previous seminars | Events 2009 | Photos of our events | Recaps
        single: Summer fair | Annual dinner | Open day | Spring concert | Jubilee gala | Founders' day
        subjects: jazz | pottery | local history | gardening | astronomy | folk dance | poetry | baking | robotics | opera | maps | chess | choirs | canals | drones
        things: An evening of {} | {} workshop | Family day: {} | Guided walk: {} | Lecture on {} | {} night
        stories: Record year for {} | New funding for {} | Council backs {} plan | {} project wins award | Visitors flock to {} | Work on {} begins
        blurbs: Free entry, all ages welcome | Booking is essential | Tickets on the door | Doors open at seven | Everyone is invited | Please register in advance
        places: Town Hall | Room 4 | Main auditorium | Village green | Library | Zoom
        months: January | February | March | April | May | June | July | August | September | October | November | December
        dates: {d} {m} {y} | {m} {d}, {y} | {d} {m}, {h}:00 | {y}-{nn}-{dd} | {d}/{nn}/{y} | {m} {d} at {h}:30
        more: Read more | Details | More | See all | View all | Full story
        empty: There is nothing here at the moment. | No entries were found. | No upcoming events.
        names: {} Museum | {} Council | University of {} | {} Rowing Club | {} Software | {} Parish Church | {} Theatre | {} Institute | {} Society
        towns: Ashcombe | Brindle | Carrowmere | Dunholt | Eastley | Farrowby | Glenmoor | Hartwick | Inverlock
    """,
    "de": """
        events: Veranstaltungen | Termine | Veranstaltungskalender | Kalender | Aktuelle Termine | Unsere Veranstaltungen | Terminkalender | Was ist los? | Alle Veranstaltungen | Programm und Termine | Nächste Termine | Veranstaltungsübersicht
        special: Seminare | Vorträge | Spielplan | Gottesdienste | Kurse | Ausstellungen | Konzerte | Kolloquium | Führungen | Treffen | Spieltermine | Lesungen
        hubs: Über uns | Gemeinde | Verein | Besuch | Mitmachen | Kultur und Freizeit | Aktuelles und Termine | Leben | Stadtleben | Angebote | Service | Entdecken
        plain: Kontakt | Impressum | Datenschutz | Geschichte | Öffnungszeiten | Anfahrt | Mitarbeiter | Satzung | Bibliothek | Shop | Spenden | Mitglied werden | Forschung | Partner | Downloads | Vorstand | Produkte | Preise
        news: Aktuelles | Neuigkeiten | Nachrichten | Meldungen | Presse | Neues
        jobs: Stellenangebote | Karriere | Offene Stellen
        people: Mitarbeitende | Team | Ansprechpartner
        publications: Publikationen | Veröffentlichungen | Schriften
        venue: Räume mieten | Ihre Veranstaltung bei uns | Hochzeiten und Feiern
        policy: Hygieneregeln für Veranstaltungen | Anmeldeformular für Veranstalter | Richtlinien für Veranstaltungen
        shop: Veranstaltungstechnik | Zelte für Veranstaltungen | Bühnenverleih
        api: Ereignisse der Schnittstelle | Ereignisbehandlung | Ereignistypen
        archive: Vergangene Veranstaltungen | Veranstaltungsarchiv | Rückblick
        single: Sommerfest | Tag der offenen Tür | Jahresempfang
        subjects: Jazz | Töpfern | Heimatgeschichte | Gärtnern | Astronomie | Volkstanz | Lyrik | Backen | Robotik
        things: Ein Abend mit {} | Workshop: {} | Familientag {} | Vortrag über {} | Führung: {} | {}-Nacht
        stories: Rekordjahr für {} | Neue Mittel für {} | Preis für {}-Projekt | Besucher strömen zu {} | Arbeiten an {} beginnen | Rat stimmt {} zu
        blurbs: Eintritt frei | Anmeldung erforderlich | Karten an der Abendkasse | Einlass ab 19 Uhr | Alle sind eingeladen | Bitte anmelden
        places: Rathaus | Raum 4 | Großer Saal | Stadtpark | Bibliothek | Gemeindehaus
        months: Januar | Februar | März | April | Mai | Juni | Juli | August | September | Oktober | November | Dezember
        dates: {d}. {m} {y} | {d}.{n}.{y} | {d}. {m}, {h} Uhr | {dd}.{nn}.{y}
        more: Weiterlesen | Mehr | Details
        empty: Zurzeit gibt es hier nichts. | Keine Einträge. | Keine Veranstaltungen.
        names: Museum {} | Stadt {} | Universität {} | Turnverein {} | {} GmbH | Kirchengemeinde {}
        towns: Altenau | Birkenfeld | Dornheim | Eschbach | Falkenried | Grünwald
    """,
    "fr": """
        events: Évènements | Agenda | Calendrier | Événements à venir | Tous les évènements | Nos événements | Agenda culturel | Manifestations | Calendrier des manifestations | Nos rendez-vous | Programme des événements | À l'affiche
        special: Séminaires | Conférences | Spectacles | Expositions | Concerts | Séances | Matchs | Messes | Ateliers | Réunions | Cours | Colloques
        hubs: À propos | Vie associative | La vie du village | Découvrir | Culture et loisirs | Participer | L'association | Actualités et agenda | Vie étudiante | Visiter | Communauté | Vivre ici
        plain: Contact | Mentions légales | Histoire | Horaires | Accès | Équipe | Bibliothèque | Boutique | Adhérer | Dons | Recherche | Partenaires | Plan du site | Services | Urbanisme | Statuts | Produits | Tarifs
        news: Actualités | Nouvelles | Blog | Actus | Presse | Infos
        jobs: Emplois | Recrutement | Offres d'emploi
        people: L'équipe | Membres | Annuaire
        publications: Publications | Articles | Travaux
        venue: Location de salles | Organisez votre événement | Mariages et réceptions
        policy: Règlement des manifestations | Formulaire de demande d'événement | Sécurité des événements
        shop: Matériel événementiel | Location de tentes | Cadeaux
        api: API d'événements | Gestion des événements | Types d'événements
        archive: Événements passés | Archives des événements | Photos
        single: Fête du village | Portes ouvertes | Carnaval
        subjects: jazz | poterie | histoire locale | jardinage | astronomie | danse | poésie | pâtisserie | robotique
        things: Soirée {} | Atelier {} | Journée {} en famille | Conférence : {} | Visite guidée : {} | Nuit {}
        stories: Année record pour {} | Nouveaux fonds pour {} | Prix pour {} | Succès pour {} | Les travaux de {} commencent | Le conseil soutient {}
        blurbs: Entrée libre | Réservation obligatoire | Ouvert à tous | Billets sur place | Sur inscription | Gratuit pour les enfants
        places: Salle des fêtes | Mairie | Salle 4 | Parc municipal | Médiathèque | Église
        months: janvier | février | mars | avril | mai | juin | juillet | août | septembre | octobre | novembre | décembre
        dates: {d} {m} {y} | {d} {m} à {h}h00 | {dd}/{nn}/{y} | le {d} {m}
        more: Lire la suite | Voir | En savoir plus
        empty: Rien à afficher. | Aucun événement. | Aucun résultat.
        names: Musée de {} | Mairie de {} | Université de {} | Club de {} | {} SARL | Paroisse de {}
        towns: Aubremont | Belleroche | Clairval | Dampierre | Escaude | Fontvieille
    """,
    "es": """
        events: Eventos | Agenda | Calendario | Próximos eventos | Agenda cultural | Calendario de eventos | Actividades | Todos los eventos | Programación | Calendario de actividades | Próximas actividades | Qué hacer
        special: Seminarios | Conferencias | Conciertos | Exposiciones | Funciones | Partidos | Talleres | Charlas | Cursos | Reuniones | Misas | Cartelera
        hubs: Sobre nosotros | Comunidad | Cultura y ocio | Participa | Conócenos | Vida estudiantil | Visítanos | Noticias y eventos | Descubre | La asociación | Vivir aquí | Actualidad
        plain: Contacto | Aviso legal | Historia | Horarios | Cómo llegar | Equipo | Biblioteca | Tienda | Hazte socio | Donar | Investigación | Socios | Mapa web | Servicios | Urbanismo | Estatutos | Productos | Precios
        news: Noticias | Novedades | Blog | Actualidad | Prensa | Comunicados
        jobs: Empleo | Trabaja con nosotros | Vacantes
        people: Personas | Nuestro equipo | Miembros
        publications: Publicaciones | Artículos | Trabajos
        venue: Alquiler de salas | Celebra tu evento | Bodas y banquetes
        policy: Normas para eventos | Solicitud de evento | Seguridad en eventos
        shop: Material para eventos | Carpas para eventos | Regalos
        api: API de eventos | Manejo de eventos | Tipos de eventos
        archive: Eventos pasados | Archivo de eventos | Galería
        single: Feria de verano | Puertas abiertas | Cena anual
        subjects: jazz | cerámica | historia local | jardinería | astronomía | danza | poesía | repostería | robótica
        things: Noche de {} | Taller de {} | Día familiar: {} | Conferencia: {} | Visita guiada: {} | Fiesta de {}
        stories: Año récord para {} | Nuevos fondos para {} | Premio al proyecto de {} | Éxito de {} | Comienzan las obras de {} | El consejo apoya {}
        blurbs: Entrada libre | Reserva obligatoria | Para todos los públicos | Entradas en taquilla | Previa inscripción | Gratis para niños
        places: Ayuntamiento | Sala 4 | Auditorio | Plaza Mayor | Biblioteca | Parroquia
        months: enero | febrero | marzo | abril | mayo | junio | julio | agosto | septiembre | octubre | noviembre | diciembre
        dates: {d} de {m} de {y} | {d} de {m}, {h}:00 | {dd}/{nn}/{y} | {d} {m} {y}
        more: Leer más | Ver | Más información
        empty: No hay nada por ahora. | No hay eventos. | Sin resultados.
        names: Museo de {} | Ayuntamiento de {} | Universidad de {} | Club {} | {} S.L. | Parroquia de {}
        towns: Alameda | Bellavista | Campoverde | Dehesa | Encinar | Fuenteclara
    """,
    "it": """
        events: Eventi | Calendario | Agenda | Appuntamenti | Calendario eventi | Prossimi eventi | Manifestazioni | Tutti gli eventi | In programma | Eventi e appuntamenti | Prossimi appuntamenti | Cosa fare
        special: Seminari | Concerti | Mostre | Spettacoli | Corsi | Incontri | Conferenze | Partite | Messe | Laboratori | Riunioni | Rassegne
        hubs: Chi siamo | Associazione | Cultura e tempo libero | Partecipa | Scopri | Vita studentesca | Visita | Notizie ed eventi | Comunità | Attività | Vivere qui | Il territorio
        plain: Contatti | Note legali | Storia | Orari | Come arrivare | Staff | Biblioteca | Negozio | Diventa socio | Donazioni | Ricerca | Partner | Mappa del sito | Servizi | Statuto | Prodotti | Prezzi | Modulistica
        news: Notizie | Novità | Blog | Comunicati | Avvisi | Ultime notizie
        jobs: Lavora con noi | Posizioni aperte | Offerte di lavoro
        people: Persone | Il gruppo | Docenti
        publications: Pubblicazioni | Articoli | Lavori
        venue: Affitto sale | Il tuo evento da noi | Matrimoni e feste
        policy: Regolamento eventi | Modulo per eventi | Sicurezza degli eventi
        shop: Allestimenti per eventi | Tensostrutture | Regali
        api: API degli eventi | Gestione degli eventi | Tipi di evento
        archive: Eventi passati | Archivio eventi | Galleria
        single: Festa d'estate | Porte aperte | Cena sociale
        subjects: jazz | ceramica | storia locale | giardinaggio | astronomia | danza | poesia | pasticceria | robotica
        things: Serata {} | Laboratorio di {} | Giornata in famiglia: {} | Conferenza: {} | Visita guidata: {} | Notte di {}
        stories: Anno record per {} | Nuovi fondi per {} | Premio al progetto {} | Successo per {} | Al via i lavori per {} | Il comune sostiene {}
        blurbs: Ingresso libero | Prenotazione obbligatoria | Aperto a tutti | Biglietti in loco | Su iscrizione | Gratis per i bambini
        places: Municipio | Sala 4 | Auditorium | Piazza Grande | Biblioteca | Parrocchia
        months: gennaio | febbraio | marzo | aprile | maggio | giugno | luglio | agosto | settembre | ottobre | novembre | dicembre
        dates: {d} {m} {y} | {d} {m}, ore {h}:00 | {dd}/{nn}/{y} | {d} {m}
        more: Leggi tutto | Vedi | Scopri di più
        empty: Nulla da mostrare. | Nessun evento. | Nessun risultato.
        names: Museo di {} | Comune di {} | Università di {} | Circolo {} | {} Srl | Parrocchia di {}
        towns: Acquaviva | Belforte | Castelverde | Doria | Esperia | Fontanella
    """,
    "nl": """
        events: Agenda | Evenementen | Activiteiten | Kalender | Evenementenkalender | Komende evenementen | Activiteitenkalender | Alle evenementen | Programma en agenda | Onze agenda | Aankomende activiteiten | Wat is er te doen
        special: Lezingen | Voorstellingen | Tentoonstellingen | Concerten | Wedstrijden | Diensten | Cursussen | Bijeenkomsten | Seminars | Workshops | Trainingen | Speelschema
        hubs: Over ons | Vereniging | Doe mee | Nieuws en agenda | Cultuur en vrije tijd | Bezoek | Ontdek | Studentenleven | Gemeenschap | De club | Wonen hier | Voor leden
        plain: Contact | Privacy | Geschiedenis | Openingstijden | Route | Medewerkers | Bibliotheek | Winkel | Lid worden | Doneren | Onderzoek | Partners | Sitemap | Diensten en producten | Statuten | Prijzen | Bestuur | Downloads
        news: Nieuws | Berichten | Blog | Actueel | Pers | Nieuwsbrief
        jobs: Vacatures | Werken bij ons | Openstaande functies
        people: Medewerkers en leden | Ons team | Wie is wie
        publications: Publicaties | Artikelen | Rapporten
        venue: Zaalverhuur | Uw evenement bij ons | Bruiloften en feesten
        policy: Evenementenbeleid | Evenement aanvragen | Veiligheid bij evenementen
        shop: Verhuur van tenten | Podia voor evenementen | Cadeaus
        api: Evenementen-API | Afhandeling van events | Soorten events
        archive: Afgelopen evenementen | Archief | Fotoverslagen
        single: Zomerfeest | Open dag | Jaardiner
        subjects: jazz | keramiek | streekgeschiedenis | tuinieren | sterrenkunde | volksdans | poëzie | bakken | robotica
        things: Avond over {} | Workshop {} | Gezinsdag {} | Lezing: {} | Rondleiding: {} | Nacht van {}
        stories: Recordjaar voor {} | Nieuw geld voor {} | Prijs voor {}-project | Drukte bij {} | Werk aan {} begint | Raad steunt {}
        blurbs: Toegang gratis | Reserveren verplicht | Iedereen is welkom | Kaarten aan de deur | Meld je aan | Kinderen gratis
        places: Gemeentehuis | Zaal 4 | Grote zaal | Stadspark | Bibliotheek | Dorpskerk
        months: januari | februari | maart | april | mei | juni | juli | augustus | september | oktober | november | december
        dates: {d} {m} {y} | {d} {m}, {h}:00 uur | {dd}-{nn}-{y} | {d} {m}
        more: Lees meer | Bekijk | Meer
        empty: Hier is nu niets te zien. | Geen evenementen. | Geen resultaten.
        names: Museum {} | Gemeente {} | Universiteit {} | Voetbalclub {} | {} BV | Parochie {}
        towns: Akkerdam | Berkelo | Doornwijk | Elsrade | Grootveld | Heidelo
    """,
    "pt": """
        events: Eventos | Agenda | Calendário | Próximos eventos | Agenda cultural | Calendário de eventos | Atividades | Todos os eventos | Programação | Próximas atividades | Calendário de atividades | O que fazer
        special: Seminários | Palestras | Concertos | Exposições | Espetáculos | Jogos | Cursos | Reuniões | Missas | Oficinas | Encontros | Sessões
        hubs: Sobre nós | Comunidade | Cultura e lazer | Participe | Conheça-nos | Vida acadêmica | Visite | Notícias e eventos | Descubra | A associação | Viver aqui | Atualidade
        plain: Contato | Aviso legal | História | Horários | Como chegar | Equipe | Biblioteca | Loja | Seja sócio | Doações | Pesquisa | Parceiros | Mapa do site | Serviços | Estatutos | Produtos | Preços | Documentos
        news: Notícias | Novidades | Blog | Imprensa | Comunicados | Avisos
        jobs: Vagas | Trabalhe conosco | Oportunidades
        people: Pessoas | Nossa equipe | Membros
        publications: Publicações | Artigos | Trabalhos
        venue: Aluguel de salões | Faça seu evento aqui | Casamentos e festas
        policy: Regulamento de eventos | Pedido de evento | Segurança em eventos
        shop: Material para eventos | Tendas para eventos | Presentes
        api: API de eventos | Tratamento de eventos | Tipos de eventos
        archive: Eventos anteriores | Arquivo de eventos | Galeria
        single: Festa de verão | Portas abertas | Jantar anual
        subjects: jazz | cerâmica | história local | jardinagem | astronomia | dança | poesia | confeitaria | robótica
        things: Noite de {} | Oficina de {} | Dia em família: {} | Palestra: {} | Visita guiada: {} | Festa de {}
        stories: Ano recorde para {} | Novos fundos para {} | Prêmio para {} | Sucesso de {} | Começam as obras de {} | Conselho apoia {}
        blurbs: Entrada livre | Reserva obrigatória | Aberto a todos | Bilhetes no local | Inscreva-se | Grátis para crianças
        places: Câmara Municipal | Sala 4 | Auditório | Praça Central | Biblioteca | Paróquia
        months: janeiro | fevereiro | março | abril | maio | junho | julho | agosto | setembro | outubro | novembro | dezembro
        dates: {d} de {m} de {y} | {d} de {m}, {h}h | {dd}/{nn}/{y} | {d} {m} {y}
        more: Leia mais | Ver | Saiba mais
        empty: Nada por enquanto. | Nenhum evento. | Sem resultados.
        names: Museu de {} | Câmara de {} | Universidade de {} | Clube {} | {} Ltda | Paróquia de {}
        towns: Alvorada | Boa Vista | Campo Belo | Douro | Estrela | Formosa
    """,
    "pl": """
        events: Wydarzenia | Kalendarz | Kalendarz wydarzeń | Imprezy | Nadchodzące wydarzenia | Kalendarium | Terminarz | Kalendarz imprez | Najbliższe wydarzenia | Wszystkie wydarzenia | Nasze wydarzenia | Co się dzieje
        special: Seminaria | Koncerty | Wystawy | Repertuar | Mecze | Msze | Warsztaty | Spotkania | Wykłady | Zajęcia | Zebrania | Pokazy
        hubs: O nas | Społeczność | Kultura i rozrywka | Dołącz do nas | Odkryj | Życie studenckie | Zwiedzanie | Aktualności i wydarzenia | Stowarzyszenie | Działalność | Dla mieszkańców | Życie kulturalne
        plain: Kontakt | Polityka prywatności | Historia | Godziny otwarcia | Dojazd | Pracownicy | Biblioteka | Sklep | Członkostwo | Darowizny | Badania | Partnerzy | Mapa strony | Usługi | Statut | Produkty | Cennik | Dokumenty
        news: Aktualności | Wiadomości | Blog | Komunikaty | Nowości | Ogłoszenia
        jobs: Praca | Kariera | Oferty pracy
        people: Ludzie | Zespół | Nasi pracownicy
        publications: Publikacje | Artykuły | Prace
        venue: Wynajem sal | Zorganizuj wydarzenie u nas | Wesela i przyjęcia
        policy: Regulamin imprez | Wniosek o organizację imprezy | Bezpieczeństwo imprez
        shop: Sprzęt na imprezy | Namioty na imprezy | Prezenty
        api: API zdarzeń | Obsługa zdarzeń | Typy zdarzeń
        archive: Minione wydarzenia | Archiwum wydarzeń | Galeria
        single: Letni piknik | Dzień otwarty | Bal roczny
        subjects: jazz | ceramika | historia lokalna | ogrodnictwo | astronomia | taniec | poezja | wypieki | robotyka
        things: Wieczór: {} | Warsztaty: {} | Dzień rodzinny: {} | Wykład: {} | Spacer: {} | Noc: {}
        stories: Rekordowy rok: {} | Nowe środki na {} | Nagroda za projekt: {} | Tłumy na {} | Ruszają prace: {} | Rada popiera {}
        blurbs: Wstęp wolny | Rezerwacja konieczna | Zapraszamy wszystkich | Bilety na miejscu | Obowiązują zapisy | Dzieci wchodzą za darmo
        places: Ratusz | Sala 4 | Aula | Rynek | Biblioteka | Kościół
        months: stycznia | lutego | marca | kwietnia | maja | czerwca | lipca | sierpnia | września | października | listopada | grudnia
        dates: {d} {m} {y} | {d} {m}, godz. {h}:00 | {dd}.{nn}.{y} | {d} {m}
        more: Czytaj dalej | Zobacz | Więcej
        empty: Na razie nic tu nie ma. | Brak wydarzeń. | Brak wyników.
        names: Muzeum {} | Urząd Gminy {} | Uniwersytet {} | Klub {} | {} Sp. z o.o. | Parafia {}
        towns: Brzozowo | Dębno | Jodłowa | Klonowo | Lipiny | Olszany
    """,
    "ja": """
        events: イベント | イベント情報 | 催し物 | カレンダー | 行事予定 | イベントカレンダー | スケジュール | 年間行事 | 開催予定 | 予定表 | 活動予定 | イベント一覧
        special: セミナー | 講演会 | 展覧会 | コンサート | 上映スケジュール | 試合日程 | 講座 | 礼拝 | 研究会 | 公演 | 例会 | ワークショップ
        hubs: 当館について | コミュニティ | 活動内容 | 参加する | 文化・スポーツ | キャンパスライフ | 団体概要 | ご案内 | 来館案内 | くらし | 会員の皆さまへ | お知らせとイベント
        plain: お問い合わせ | プライバシーポリシー | 沿革 | 開館時間 | アクセス | スタッフ | 図書室 | ショップ | 入会案内 | 寄付 | 研究 | リンク | サイトマップ | サービス | 規約 | 製品 | 料金 | 資料
        news: お知らせ | ニュース | ブログ | 新着情報 | 最新情報 | プレスリリース
        jobs: 採用情報 | 求人 | 募集要項
        people: メンバー | 教員紹介 | スタッフ紹介
        publications: 論文 | 業績 | 出版物
        venue: 会場貸出 | 施設利用案内 | 貸切パーティー
        policy: イベント規約 | イベント申請書 | 安全指針
        shop: イベント用品 | テントレンタル | 記念品
        api: イベントAPI | イベント処理 | イベントの種類
        archive: 過去のイベント | イベント報告 | 写真館
        single: 夏祭り | オープンキャンパス | 記念式典
        subjects: ジャズ | 陶芸 | 郷土史 | 園芸 | 天文 | 民踊 | 俳句 | 菓子 | ロボット
        things: {}の夕べ | {}ワークショップ | 親子で{} | {}講演会 | {}見学会 | {}ナイト
        stories: {}が過去最高 | {}に新たな支援 | {}が受賞 | {}に多くの来場者 | {}の工事開始 | {}計画を承認
        blurbs: 入場無料 | 要予約 | どなたでも参加できます | 当日券あり | 事前申込制 | 子ども無料
        places: 市役所 | 4号室 | 大ホール | 中央公園 | 図書館 | 公民館
        months: 1月 | 2月 | 3月 | 4月 | 5月 | 6月 | 7月 | 8月 | 9月 | 10月 | 11月 | 12月
        dates: {y}年{n}月{d}日 | {n}月{d}日 {h}時 | {y}/{nn}/{dd} | {y}.{nn}.{dd}
        more: 続きを読む | 詳細 | もっと見る
        empty: 現在何もありません。 | 予定はありません。 | 該当なし。
        names: {}博物館 | {}市 | {}大学 | {}クラブ | {}株式会社 | {}教会
        towns: 青葉 | 緑川 | 桜井 | 若松 | 白石 | 松原
    """,
    "ko": """
        events: 행사 | 행사 안내 | 이벤트 | 일정 | 행사 일정 | 캘린더 | 행사 캘린더 | 주요 행사 | 예정된 행사 | 이달의 행사 | 전체 일정 | 행사 달력
        special: 세미나 | 공연 | 전시 | 강연 | 경기 일정 | 예배 시간 | 강좌 | 모임 | 상영 시간표 | 음악회 | 워크숍 | 정기 모임
        hubs: 소개 | 커뮤니티 | 참여하기 | 문화와 여가 | 학생 활동 | 관람 안내 | 소식과 행사 | 둘러보기 | 회원 마당 | 활동 | 생활 정보 | 알림마당
        plain: 연락처 | 개인정보처리방침 | 연혁 | 이용 시간 | 오시는 길 | 직원 | 도서실 | 상점 | 회원 가입 | 후원 | 연구 | 링크 | 사이트맵 | 서비스 | 정관 | 제품 | 요금 | 자료실
        news: 소식 | 뉴스 | 블로그 | 공지사항 | 새소식 | 보도자료
        jobs: 채용 | 채용 공고 | 일자리
        people: 구성원 | 교수진 | 사람들
        publications: 논문 | 연구 성과 | 출판물
        venue: 대관 안내 | 행사장 대여 | 결혼식과 파티
        policy: 행사 규정 | 행사 신청서 | 행사 안전 수칙
        shop: 행사 용품 | 천막 대여 | 기념품
        api: 이벤트 API | 이벤트 처리 | 이벤트 종류
        archive: 지난 행사 | 행사 사진 | 행사 후기
        single: 여름 축제 | 개방의 날 | 기념식
        subjects: 재즈 | 도예 | 향토사 | 원예 | 천문 | 민속춤 | 시 | 제과 | 로봇
        things: {}의 밤 | {} 워크숍 | 가족과 함께 {} | {} 강연 | {} 견학 | {} 축제
        stories: {} 역대 최고 | {}에 새 지원 | {} 수상 | {}에 인파 | {} 공사 시작 | {} 계획 승인
        blurbs: 무료 입장 | 예약 필수 | 누구나 참여 | 현장 판매 | 사전 신청 | 어린이 무료
        places: 시청 | 4호실 | 대강당 | 중앙공원 | 도서관 | 회관
        months: 1월 | 2월 | 3월 | 4월 | 5월 | 6월 | 7월 | 8월 | 9월 | 10월 | 11월 | 12월
        dates: {y}년 {n}월 {d}일 | {n}월 {d}일 {h}시 | {y}.{nn}.{dd} | {y}-{nn}-{dd}
        more: 더 보기 | 자세히 | 전체 보기
        empty: 내용이 없습니다. | 예정된 행사가 없습니다. | 결과 없음.
        names: {} 박물관 | {}시 | {}대학교 | {} 동호회 | {} 주식회사 | {}교회
        towns: 가람 | 나루 | 다솜 | 라온 | 마루 | 바다
    """,
    "zh-Hant": """
        events: 活動 | 活動訊息 | 最新活動 | 行事曆 | 活動行事曆 | 近期活動 | 活動列表 | 活動一覽 | 藝文活動 | 所有活動 | 活動日程 | 展演資訊
        special: 講座 | 研討會 | 展覽 | 音樂會 | 演出 | 賽程 | 課程表 | 聚會時間 | 學術演講 | 年會 | 例會 | 放映場次
        hubs: 關於我們 | 社區 | 參與我們 | 文化休閒 | 校園生活 | 參觀資訊 | 消息與活動 | 認識我們 | 會員專區 | 生活 | 便民服務 | 探索
        plain: 聯絡我們 | 隱私權政策 | 歷史沿革 | 開放時間 | 交通位置 | 職員 | 圖書館 | 商店 | 加入會員 | 捐款 | 研究 | 連結 | 網站導覽 | 服務項目 | 章程 | 產品 | 價目 | 下載
        news: 最新消息 | 新聞 | 公告 | 部落格 | 消息 | 新聞稿
        jobs: 徵才 | 招募 | 職缺
        people: 成員 | 師資 | 團隊
        publications: 論文 | 出版品 | 發表
        venue: 場地租借 | 在此舉辦活動 | 婚宴場地
        policy: 活動規範 | 活動申請表 | 活動安全須知
        shop: 活動用品 | 帳篷出租 | 紀念品
        api: 事件介面 | 事件處理 | 事件類型
        archive: 歷屆活動 | 活動回顧 | 活動相簿
        single: 夏日園遊會 | 開放日 | 週年晚宴
        subjects: 爵士 | 陶藝 | 地方史 | 園藝 | 天文 | 民俗舞 | 詩歌 | 烘焙 | 機器人
        things: {}之夜 | {}工作坊 | 親子{} | {}演講 | {}導覽 | {}同樂會
        stories: {}創新高 | {}獲新經費 | {}計畫得獎 | 遊客湧向{} | {}動工 | 議會支持{}
        blurbs: 免費入場 | 需預約 | 歡迎參加 | 現場售票 | 請先報名 | 兒童免費
        places: 市政府 | 四號教室 | 大禮堂 | 中央公園 | 圖書館 | 教會
        months: 1月 | 2月 | 3月 | 4月 | 5月 | 6月 | 7月 | 8月 | 9月 | 10月 | 11月 | 12月
        dates: {y}年{n}月{d}日 | {n}月{d}日 下午{h}時 | {y}/{nn}/{dd} | {y}-{nn}-{dd}
        more: 閱讀更多 | 詳情 | 更多
        empty: 目前沒有資料。 | 暫無活動。 | 查無資料。
        names: {}博物館 | {}市政府 | {}大學 | {}社 | {}公司 | {}教會
        towns: 青山 | 綠水 | 東港 | 西園 | 南莊 | 北苑
    """,
    "zh-Hans": """
        events: 活动 | 活动预告 | 最新活动 | 日历 | 活动日历 | 近期活动 | 活动列表 | 活动一览 | 文化活动 | 全部活动 | 活动安排 | 演出信息
        special: 讲座 | 研讨会 | 展览 | 音乐会 | 演出 | 赛程 | 课程表 | 聚会时间 | 学术报告 | 年会 | 例会 | 放映场次
        hubs: 关于我们 | 社区 | 参与我们 | 文化休闲 | 校园生活 | 参观指南 | 新闻与活动 | 认识我们 | 会员专区 | 生活 | 便民服务 | 探索
        plain: 联系我们 | 隐私政策 | 历史 | 开放时间 | 交通 | 员工 | 图书馆 | 商店 | 加入会员 | 捐款 | 研究 | 链接 | 网站地图 | 服务项目 | 章程 | 产品 | 价格 | 下载
        news: 新闻 | 最新消息 | 公告 | 博客 | 动态 | 新闻中心
        jobs: 招聘 | 加入我们 | 职位
        people: 成员 | 师资力量 | 团队
        publications: 论文 | 出版物 | 研究成果
        venue: 场地租借 | 在此举办活动 | 婚宴场地
        policy: 活动规定 | 活动申请表 | 活动安全须知
        shop: 活动用品 | 帐篷出租 | 纪念品
        api: 事件接口 | 事件处理 | 事件类型
        archive: 往期活动 | 活动回顾 | 活动相册
        single: 夏日游园会 | 开放日 | 周年晚宴
        subjects: 爵士 | 陶艺 | 地方史 | 园艺 | 天文 | 民俗舞 | 诗歌 | 烘焙 | 机器人
        things: {}之夜 | {}工作坊 | 亲子{} | {}讲座 | {}导览 | {}联欢会
        stories: {}创新高 | {}获新经费 | {}项目获奖 | 游客涌向{} | {}动工 | 议会支持{}
        blurbs: 免费入场 | 需预约 | 欢迎参加 | 现场售票 | 请先报名 | 儿童免费
        places: 市政府 | 四号教室 | 大礼堂 | 中央公园 | 图书馆 | 教堂
        months: 1月 | 2月 | 3月 | 4月 | 5月 | 6月 | 7月 | 8月 | 9月 | 10月 | 11月 | 12月
        dates: {y}年{n}月{d}日 | {n}月{d}日 下午{h}点 | {y}/{nn}/{dd} | {y}-{nn}-{dd}
        more: 阅读更多 | 详情 | 更多
        empty: 暂无内容。 | 暂无活动。 | 没有结果。
        names: {}博物馆 | {}市政府 | {}大学 | {}社 | {}公司 | {}教会
        towns: 青山 | 绿水 | 东港 | 西园 | 南庄 | 北苑
    """,
}  # fmt: skip
LANGUAGES = tuple(_TABLES)
