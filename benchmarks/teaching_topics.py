"""Subjects of wikispeedia as a person would type them, split into development and test topics.

All subjects with at least 20 pages, those below them included ("African geography" has the African
countries); without the remainders "General ..." and "Everyday life", which no one looks for. The
split is by a hash of the label and was made before anything was measured.
"""

import zlib

PHRASES = {
    "Art.Art": "art",
    "Business_Studies.Business": "business",
    "Business_Studies.Economics": "economics",
    "Citizenship.Environment": "environment",
    "Citizenship.Politics_and_government": "politics and government",
    "Countries": "countries",
    "Design_and_Technology.Air_and_Sea_transport": "ships and aircraft",
    "Design_and_Technology.Architecture": "architecture",
    "Design_and_Technology.Engineering": "engineering",
    "Design_and_Technology.Railway_transport": "railways and trains",
    "Everyday_life.Cartoons": "cartoons",
    "Everyday_life.Computer_and_Video_games": "video games",
    "Everyday_life.Films": "films",
    "Everyday_life.Food_and_agriculture": "food and agriculture",
    "Everyday_life.Games": "games",
    "Everyday_life.Recreation": "recreation",
    "Everyday_life.Sports": "sports",
    "Everyday_life.Sports_events": "sports events",
    "Everyday_life.Television": "television programmes",
    "Geography.African_Geography": "African geography",
    "Geography.African_Geography.African_Countries": "African countries",
    "Geography.Central_and_South_American_Geography": "geography of South America",
    "Geography.Central_and_South_American_Geography.Central_and_South_American_Countries": (
        "countries of Central and South America"
    ),
    "Geography.Climate_and_the_Weather": "climate and weather",
    "Geography.European_Geography": "European geography",
    "Geography.European_Geography.European_Countries": "European countries",
    "Geography.Geography_of_Asia": "geography of Asia",
    "Geography.Geography_of_Asia.Asian_Countries": "Asian countries",
    "Geography.Geography_of_Great_Britain": "British towns and geography",
    "Geography.Geography_of_Oceania_Australasia": "geography of Australia and Oceania",
    "Geography.Geography_of_the_Middle_East": "geography of the Middle East",
    "Geography.Geology_and_geophysics": "geology",
    "Geography.Natural_Disasters": "natural disasters",
    "Geography.North_American_Geography": "geography of North America",
    "Geography.Peoples": "ethnic groups and peoples",
    "Geography.Storms": "storms and hurricanes",
    "History.Ancient_History_Classical_History_and_Mythology": "ancient history and mythology",
    "History.British_History": "British history",
    "History.British_History.British_History_15001750": "British history from 1500 to 1750",
    "History.British_History.British_History_1500_and_before_including_Roman_Britain": (
        "medieval and Roman Britain"
    ),
    "History.British_History.British_History_17501900": "Britain in the Victorian age",
    "History.Military_History_and_War": "military history and wars",
    "History.North_American_History": "American history",
    "History.Pre_1900_Military": "battles and wars before 1900",
    "History.Recent_History": "recent history",
    "History.World_War_II": "World War II",
    "IT.Computing_hardware_and_infrastructure": "computer hardware",
    "IT.Software": "software",
    "IT.Websites_and_the_Internet": "websites and the internet",
    "Language_and_literature.Languages": "languages",
    "Language_and_literature.Novels": "novels",
    "Language_and_literature.Poetry_and_Opera": "poetry and opera",
    "Language_and_literature.Theatre": "theatre plays",
    "Mathematics": "mathematics",
    "Music.Musical_genres_styles_eras_and_events": "music genres and styles",
    "People.Actors_models_and_celebrities": "actors and celebrities",
    "People.Artists": "painters and artists",
    "People.Astronomers_and_physicists": "astronomers and physicists",
    "People.Engineers_and_inventors": "inventors and engineers",
    "People.Geographers_and_explorers": "explorers",
    "People.Historical_figures": "historical figures",
    "People.Human_Scientists": "economists and social scientists",
    "People.Military_People": "generals and military leaders",
    "People.Monarchs_of_Great_Britain": "kings and queens of England",
    "People.Performers_and_composers": "composers, singers and bands",
    "People.Philosophers": "philosophers",
    "People.Political_People": "politicians",
    "People.Religious_figures_and_leaders": "religious leaders and saints",
    "People.Sports_and_games_people": "athletes and sportspeople",
    "People.USA_Presidents": "presidents of the United States",
    "People.Writers_and_critics": "writers",
    "Religion.Divinities": "gods and goddesses",
    "Religion.Philosophy": "philosophy",
    "Religion.Religious_movements_traditions_and_organizations": "religions and churches",
    "Science.Biology.Birds": "birds",
    "Science.Biology.Dinosaurs": "dinosaurs",
    "Science.Biology.Health_and_medicine": "health and medicine",
    "Science.Biology.Insects_Reptiles_and_Fish": "insects, reptiles and fish",
    "Science.Biology.Mammals": "mammals",
    "Science.Biology.Plants": "plants",
    "Science.Chemistry.Chemical_compounds": "chemical compounds",
    "Science.Chemistry.Chemical_elements": "chemical elements",
    "Science.Physics.Electricity_and_Electronics": "electronics",
    "Science.Physics.Space_Astronomy": "space and astronomy",
    "Science.Physics.Space_transport": "spacecraft and space missions",
}


def topics(part: str) -> dict[str, str]:
    """The phrases of a part, "dev" or "test", by the label that they look for."""
    code = {"dev": 0, "test": 1}[part]
    return {
        f"subject.{label}": phrase
        for label, phrase in PHRASES.items()
        if zlib.crc32(label.encode()) % 2 == code
    }


def has_subject(labels: tuple[str, ...], subject: str) -> bool:
    """Whether a page with these labels is on a subject, or on one below it."""
    return any(label == subject or label.startswith(f"{subject}.") for label in labels)
