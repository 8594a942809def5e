"""Topics of three webs as a person would type them, split into development and test topics.

A topic is a phrase and what it looks for: labels, all of which a page must have ("a & b"), or one
of several ("a | b"); a label has those below it. The subjects of wikispeedia with at least 20 pages
and their split are those of `teaching_topics`; all other topics are split by a hash of their
phrase. The split was made before anything was measured.
"""

import zlib

import teaching_topics

WIKISPEEDIA = {
    "companies": "Business_Studies.Companies",
    "currencies and money": "Business_Studies.Currency",
    "human rights and animal rights": "Citizenship.Animal_and_Human_Rights",
    "education": "Citizenship.Education",
    "law": "Citizenship.Law",
    "cars and roads": "Design_and_Technology.Road_transport",
    "alcoholic drinks and beverages": "Everyday_life.Drink",
    "football clubs": "Everyday_life.Sports_teams",
    "countries of the Middle East": (
        "Geography.Geography_of_the_Middle_East.Middle_Eastern_Countries"
    ),
    "minerals": "Geography.Mineralogy",
    "Britain in the twentieth century": "History.British_History.British_History_Post_1900",
    "computer programming": "IT.Computer_Programming",
    "linguistics": "Language_and_literature.Linguistics",
    "literary genres": "Language_and_literature.Literature_types",
    "musical instruments": "Music.Musical_Instruments",
    "albums and musical compositions": "Music.Musical_Recordings_and_compositions",
    "rock bands": "Music.Performers_and_composers",
    "mathematicians": "People.Mathematicians",
    "myths and legends": "Religion.Myths",
    "religious conflicts": "Religion.Religious_disputes",
    "sacred texts": "Religion.Religious_texts",
    "chemistry": "Science.Chemistry",
    "physics": "Science.Physics.General_Physics | Science.Physics.Electricity_and_Electronics",
    "biology": "Science.Biology",
    "animals": (
        "Science.Biology.Birds | Science.Biology.Mammals | Science.Biology.Dinosaurs"
        " | Science.Biology.Insects_Reptiles_and_Fish"
    ),
    "music": "Music",
    "computers": "IT",
    "literature": "Language_and_literature",
    "religion": "Religion",
    "transport": (
        "Design_and_Technology.Air_and_Sea_transport | Design_and_Technology.Railway_transport"
        " | Design_and_Technology.Road_transport"
    ),
    "warfare": (
        "History.Military_History_and_War | History.Pre_1900_Military | History.World_War_II"
    ),
    "scientists and mathematicians": (
        "People.Astronomers_and_physicists | People.Mathematicians | People.Human_Scientists"
    ),
    "extreme weather and natural disasters": "Geography.Storms | Geography.Natural_Disasters",
    "food plants and crops": "Everyday_life.Food_and_agriculture & Science.Biology.Plants",
    "medieval English kings": (
        "History.British_History.British_History_1500_and_before_including_Roman_Britain"
        " & People.Monarchs_of_Great_Britain"
    ),
    "Tudor and Stuart monarchs": (
        "History.British_History.British_History_15001750 & People.Monarchs_of_Great_Britain"
    ),
    "island nations of the Pacific": "Countries & Geography.Geography_of_Oceania_Australasia",
    "ancient Greek and Roman leaders": (
        "History.Ancient_History_Classical_History_and_Mythology & People.Historical_figures"
    ),
    "playwrights": "Language_and_literature.Theatre & People.Writers_and_critics",
}

MDN = {
    "Bluetooth": "apigroup:Bluetooth API",
    "CSS typed object model": "apigroup:CSS Typed Object Model API",
    "stylesheets and CSS rules in scripts": "apigroup:CSSOM",
    "drawing on a canvas": "apigroup:Canvas API",
    "copy and paste clipboard": "apigroup:Clipboard API",
    "cookies": "apigroup:Cookie Store API",
    "device orientation and motion": "apigroup:Device Orientation Events",
    "encrypted media": "apigroup:Encrypted Media Extensions",
    "fetching resources": "apigroup:Fetch API",
    "files and directories": (
        "apigroup:File API | apigroup:File System API | apigroup:File and Directory Entries API"
    ),
    "gamepad": "apigroup:Gamepad API",
    "geolocation": "apigroup:Geolocation API",
    "drag and drop": "apigroup:HTML Drag and Drop API",
    "IndexedDB": "apigroup:IndexedDB",
    "camera and microphone capture": "apigroup:Media Capture and Streams",
    "media source extensions": "apigroup:Media Source Extensions",
    "online payments": "apigroup:Payment Request API | apigroup:Web-Based Payment Handler API",
    "performance measurement": "apigroup:Performance API",
    "pointer and touch events": "apigroup:Pointer Events | apigroup:Touch Events",
    "push notifications": "apigroup:Push API | apigroup:Web Notifications",
    "SVG": "apigroup:SVG | section:Web/SVG",
    "sensors": "apigroup:Sensor API",
    "service workers": "apigroup:Service Workers API",
    "readable and writable streams": "apigroup:Streams",
    "keyboard and mouse events": "apigroup:UI Events",
    "URLs": "apigroup:URL API | apigroup:URL Pattern API | section:Web/URI",
    "web animations": "apigroup:Web Animations",
    "web audio": "apigroup:Web Audio API",
    "passwords and authentication": (
        "apigroup:Web Authentication API | apigroup:Credential Management API"
    ),
    "custom elements and shadow DOM": "apigroup:Web Components | apigroup:Shadow DOM",
    "cryptography": "apigroup:Web Crypto API",
    "MIDI music devices": "apigroup:Web MIDI API",
    "NFC tags": "apigroup:Web NFC API",
    "speech recognition and synthesis": "apigroup:Web Speech API",
    "web workers": "apigroup:Web Workers API",
    "video codecs": "apigroup:WebCodecs API | apigroup:Web Codecs API",
    "WebGL": "apigroup:WebGL",
    "WebGPU": "apigroup:WebGPU API",
    "WebRTC": "apigroup:WebRTC",
    "web sockets": "apigroup:WebSockets API",
    "USB devices": "apigroup:WebUSB API",
    "virtual reality": "apigroup:WebXR Device API | apigroup:WebVR API",
    "video subtitles and captions": "apigroup:WebVTT",
    "XMLHttpRequest": "apigroup:XMLHttpRequest API",
    "ARIA roles": "page-type:aria-role",
    "CSS functions": "page-type:css-function",
    "CSS media features": "page-type:css-media-feature",
    "CSS properties": "page-type:css-property | page-type:css-shorthand-property",
    "CSS pseudo-classes": "page-type:css-pseudo-class",
    "Firefox release notes": "page-type:firefox-release-notes",
    "HTML elements": "page-type:html-element",
    "HTTP headers": "page-type:http-header",
    "HTTP status codes": "page-type:http-status-code",
    "content security policy directives": "page-type:http-csp-directive",
    "JavaScript errors": "page-type:javascript-error",
    "JavaScript operators": "page-type:javascript-operator",
    "SVG attributes": "page-type:svg-attribute",
    "WebAssembly instructions": "page-type:webassembly-instruction",
    "XPath functions": "page-type:xpath-function",
    "XSLT elements": "page-type:xslt-element",
    "game development": "section:Games",
    "browser extensions": "section:Mozilla/Add-ons",
    "web accessibility": "section:Web/Accessibility",
    "CSS": "section:Web/CSS",
    "HTTP": "section:Web/HTTP",
    "JavaScript": "section:Web/JavaScript",
    "MathML": "section:Web/MathML",
    "progressive web apps": "section:Web/Progressive_web_apps",
    "web security": "section:Web/Security",
    "WebDriver": "section:Web/WebDriver",
    "XML": "section:Web/XML",
    "WebAssembly": "section:WebAssembly",
    "writing guidelines for documentation": "section:MDN",
}

WEBKB = {
    "university courses": "class:course",
    "faculty home pages": "class:faculty",
    "students": "class:student",
    "research projects": "class:project",
    "computer science departments": "class:department",
    "technical and administrative staff": "class:staff",
    "computer science courses at Cornell": "class:course & univ:cornell",
    "computer science courses at Texas": "class:course & univ:texas",
    "University of Washington computer courses": "class:course & univ:washington",
    "Wisconsin computer science courses": "class:course & univ:wisconsin",
    "professors at Cornell": "class:faculty & univ:cornell",
    "professors at the University of Texas": "class:faculty & univ:texas",
    "professors at the University of Washington": "class:faculty & univ:washington",
    "professors at Wisconsin": "class:faculty & univ:wisconsin",
    "graduate students at Cornell": "class:student & univ:cornell",
    "graduate students at Texas": "class:student & univ:texas",
    "graduate students at Washington": "class:student & univ:washington",
    "graduate students at Wisconsin": "class:student & univ:wisconsin",
    "research projects at Cornell": "class:project & univ:cornell",
    "research projects at Texas": "class:project & univ:texas",
    "research projects at Washington": "class:project & univ:washington",
    "research projects at Wisconsin": "class:project & univ:wisconsin",
}

WEBS = ("wikispeedia", "mdn", "webkb")


def topics(web: str, part: str) -> dict[str, str]:
    """What each phrase of a part, "dev" or "test", looks for."""
    code = {"dev": 0, "test": 1}[part]
    own = {"wikispeedia": _subjects(), "mdn": MDN, "webkb": WEBKB}[web]
    found = {p: rule for p, rule in own.items() if zlib.crc32(p.encode()) % 2 == code}
    if web == "wikispeedia":
        found |= {phrase: label for label, phrase in teaching_topics.topics(part).items()}
    return found


def is_on(labels: tuple[str, ...], rule: str) -> bool:
    """Whether a page with these labels is what a topic looks for."""
    return any(
        all(teaching_topics.has_subject(labels, label.strip()) for label in way.split("&"))
        for way in rule.split("|")
    )


def _subjects() -> dict[str, str]:
    return {phrase: _full(rule) for phrase, rule in WIKISPEEDIA.items()}


def _full(rule: str) -> str:
    return " ".join(word if word in "&|" else f"subject.{word}" for word in rule.split())
