"""Names of organisations and texts of their pages in two languages; test sites have their own."""
# ruff: noqa: E501 - a row of words reads best unbroken

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Words = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of one language for one set of sites."""

    language: str
    names: Words  # by kind of organisation
    places: Sequence[str]
    menus: Words  # by purpose of a page: texts of links to it
    hubs: Words  # by kind of organisation: pages that link to others
    plain: Sequence[str]  # other pages of the menu
    decoys: Words  # by kind of decoy
    subjects: Sequence[str]
    things: Words  # by purpose: patterns of the entries of a list
    blurbs: Sequence[str]
    dates: Sequence[str]  # patterns
    more: Sequence[str]  # texts of "read more" links
    empty: Sequence[str]  # texts of empty lists
    headings: Sequence[str]  # of sections and columns of mega-menus


def _split(text: str) -> list[str]:
    return [piece.strip() for piece in text.replace("\n", " ").split("|") if piece.strip()]


def _table(text: str) -> dict[str, list[str]]:
    rows = [line.partition(":") for line in text.strip().splitlines()]
    return {key.strip(): _split(rest) for key, _, rest in rows}


_EN_BLURBS = _split(
    """Join us for an afternoon of good company | Free entry, all ages welcome | Booking is essential
    | Tickets on the door | Refreshments are served from half past six | Led by our own staff
    | Places are limited, so come early | Suitable for beginners | Bring a friend"""
)
_EN_BLURBS_2 = _split(
    """Doors open thirty minutes before | Everyone is invited | Reserve your seat by telephone
    | An evening that you will remember | No experience needed | Children go free
    | Please register in advance | Hosted by volunteers | Wear sturdy shoes"""
)

ENGLISH_TRAIN = Wording(
    "en",
    _table(
        """council: {} Borough Council | {} Town Council | {} District Council
        university: University of {} | {} College | {} Institute of Technology
        museum: {} Museum | The {} Gallery | {} Heritage Centre
        club: {} Rowing Club | {} Chess Society | Friends of {} Park
        company: {} Engineering Ltd | {} Breweries | {} Insurance Group"""
    ),
    _split(
        """Ashcombe | Brindle | Carrowmere | Dunholt | Eastley | Farrowby | Glenmoor | Hartwick
        | Inverlock | Kelstow | Langport | Mossley | Northam | Oakridge | Penhallow | Quarrington"""
    ),
    _table(
        """events: Events | What's on | Events calendar | Upcoming events | Calendar of events | Public events | Events and activities | Talks and events | Events list | Event guide | Events near you | Dates for your diary
        news: News | Latest news | News and updates | Newsroom
        jobs: Jobs | Vacancies | Work for us
        courses: Courses | Our courses | Course list
        press: Press releases | For the press"""
    ),
    _table(
        """council: Leisure and culture | Community | Your council
        university: Student life | Study here | Campus
        museum: Visit | Plan your visit | Discover
        club: Members | About the club | Get involved
        company: About us | Media centre | Our company"""
    ),
    _split(
        """About us | Contact | Our history | Opening times | How to find us | Privacy policy
        | Accessibility | Sitemap | Staff | Publications | Planning | Council tax | Library | Shop
        | Support us | Membership | FAQ | Cookies | Complaints | Annual report | Photo gallery | Links"""
    ),
    _table(
        """single: Summer fair on 12 June | Our annual dinner event | Open day event | Spring concert event | Golden jubilee event
        shop: Event furniture hire | Marquees and event tents | Event equipment shop | Banners for your event | Catering supplies for events
        archive: Event archive 2009 | Old event archive | Events of past years | Events before 2005
        venue: Hire our rooms for your event | Wedding and event venue | Meeting rooms for events | Host a private event here
        policy: Event safety policy | Event application form | Event risk assessment | Booking conditions for events
        ticker: Calendar of bin collections | Academic calendar dates | Exam calendar | Calendar of refuse rounds"""
    ),
    _split(
        """jazz | pottery | local history | gardening | astronomy | folk dance | steam engines | poetry
        | bird watching | baking | watercolours | robotics | wool spinning | family law | bee keeping"""
    ),
    _table(
        """events: An evening of {} | {} workshop | Family day: {} | Guided walk: {} | Lecture on {}
        news: Record year for {} | New funding for {} announced | Council backs {} plan
        jobs: {} assistant | Senior {} officer | Manager, {}
        courses: Introduction to {} | Advanced {} | {} in practice
        press: Press release: {} partnership | Statement on {}"""
    ),
    _EN_BLURBS,
    _split("{d} {m} {y} | {d} {m}, {h}.00 | {m} {d}, {y}"),
    _split("Read more | More | Details | Find out more"),
    _split("There is nothing here at the moment. | No entries were found."),
    _split(
        "Services | Information | Popular pages | For visitors | News and dates | Find it here | Documents | Online services | Good to know | Top tasks | More from us"
    ),
)

ENGLISH_MORE = Wording(
    "en",
    _table(
        """council: {} City Council | {} County Council | {} Parish Council
        university: {} University | {} School of Economics | {} Conservatoire
        museum: {} Maritime Museum | {} House and Gardens | {} Science Centre
        club: {} Cycling Club | {} Amateur Dramatics | {} Wildlife Group
        company: {} Foods | {} Software | {} Water"""
    ),
    _split(
        """Redcliff | Sandhurst Bay | Thornaby | Ulverdale | Varley | Westbrook | Yarrow | Aldermere
        | Birchover | Coldstone | Drayton | Elmsworth | Fenwick | Greystoke | Hollins | Ivinghoe"""
    ),
    _table(
        """events: Our events | Event listings | Things to do | Events programme | Diary of events | Find an event | Workshops and events | Exhibitions and events | Events this week | Seasonal events | Our programme | Calendar
        news: Stories | News archive | Our news | News and views
        jobs: Careers | Job opportunities | Current vacancies
        courses: Find a course | Courses A to Z | Training courses
        press: Media releases | Press office"""
    ),
    _table(
        """council: Residents | Parks and leisure | Visiting the area
        university: Life on campus | Public engagement | Departments
        museum: Your visit | Explore | Learn with us
        club: Join in | What we do | Our people
        company: Who we are | Newsroom and media | Inside the company"""
    ),
    _split(
        """Who we are | Get in touch | Our story | Hours and prices | Directions | Data protection
        | Site map | People | Research | Waste and recycling | Parking | Collections | Gift shop
        | Donate | Become a member | Questions and answers | Legal notice | Feedback | Downloads"""
    ),
    _table(
        """single: Midsummer gala event, 24 June | Anniversary event | Prize giving event | Gala dinner event | Fun day event on 5 May
        shop: Event staging for sale | Chairs and tables for events | Event lighting supplies | Event seating rental | Tents and event flooring
        archive: Event archive before 2010 | Event records (closed) | Former events, 1990 to 2000 | Event history
        venue: Corporate event venue | Book a hall for an event | Conference and event rooms | Celebrate your event here
        policy: Event licence | Guidance for event organisers | Event permit forms | Notes on event liability
        ticker: School holiday calendar | Tide calendar | Street cleaning calendar | Semester calendar"""
    ),
    _split(
        """opera | stone walls | maps | chess | wild swimming | choral music | canals | storytelling
        | mosses | cheese making | printing | drones | lace | tax advice | orchards"""
    ),
    _table(
        """events: {} night | Hands-on {} | Saturday club: {} | Tour: {} | Talk: {}
        news: {} project wins award | Visitors flock to {} | Work on {} begins
        jobs: {} technician | Head of {} | {} apprentice
        courses: {} for beginners | {} masterclass | Certificate in {}
        press: News release: {} scheme | Media statement: {}"""
    ),
    [
        *_EN_BLURBS[:4],
        *_split("Meet at the main gate | A chance to try something new | Free, no need to book"),
    ],
    _split("{w} {d} {m} | {d}/{n}/{y} | {w}, {m} {d}"),
    _split("Full story | View | Continue | See details"),
    _split("This section is empty. | Nothing to show."),
    _split(
        "At a glance | Quick links | Advice | For everyone | Happening now | Key topics | Forms and files | Do it online | Resources | Also here | Highlights"
    ),
)

ENGLISH_TEST = Wording(
    "en",
    _table(
        """council: {} Metropolitan Council | City of {} | {} Village Council
        university: {} State University | {} Polytechnic | Royal Academy of {}
        museum: National Museum of {} | {} Art Museum | {} Railway Museum
        club: {} Football Club | {} Choral Society | {} Photographic Society
        company: {} Motors | {} Pharmaceuticals | {} Energy"""
    ),
    _split(
        """Jarrowdale | Kingsmere | Lutterfield | Marchwood | Netherby | Orrest | Pendlebury | Quayside
        | Rosedean | Stannington | Tarnbrook | Uppermill | Vexford | Wolviston | Yeadon | Zealand"""
    ),
    _table(
        """events: Forthcoming events | Events diary | All events | Event calendar | What's happening | Concerts and events | See all our events | Programme of events
        news: In the news | News headlines | Recent news | Announcements
        jobs: Job openings | Join our team | Employment
        courses: Classes | Course catalogue | Learn a skill
        press: Press room | Media and press"""
    ),
    _table(
        """council: Living here | Culture and sport | Out and about
        university: Around campus | For the public | Faculties
        museum: Come and see | Visitor information | At the museum
        club: Our society | Take part | For members
        company: The company | Media and investors | Corporate"""
    ),
    _split(
        """Our organisation | Contact details | Timeline | Prices and hours | Where we are | Privacy
        | Terms of use | Help | Team | Library catalogue | Rubbish collection | Car parks | Archive room
        | Online store | Give | Subscriptions | Ask a question | Imprint | Governance | Reports"""
    ),
    _table(
        """single: Harvest supper event on 3 October | Centenary event | Charity run event
        shop: Event barriers and fencing | Party and event goods | Rent event toilets
        archive: Events of the last century | Past event archive (empty)
        venue: Hold your event with us | Event spaces and catering
        policy: Event notification form | Event insurance rules
        ticker: Term calendar | Recycling calendar"""
    ),
    _split(
        """string quartets | mosaics | family trees | fungi | kites | salsa | lighthouses | comedy
        | moths | sourdough | screen printing | coding | quilting | housing law | cider"""
    ),
    _table(
        """events: {} for all | {} after dark | Meet the experts: {} | {} festival | Concert: {}
        news: How {} changed our town | {} site reopens | Survey on {} published
        jobs: {} coordinator | Lead {} engineer | {} trainee
        courses: Basics of {} | {} level two | Short course: {}
        press: For immediate release: {} | Comment on {}"""
    ),
    _EN_BLURBS_2,
    _split("{w} {d} {m} {y} | {y}-{n}-{d} | {d} {m} at {h}.30"),
    _split("Learn more | Show | Go on reading | Information"),
    _split("We have nothing to show you yet. | Sorry, no results."),
    _split(
        "Start here | Most visited | Guidance | Audiences | Current | Overview | Papers | Self-service | In depth | Featured | Further pages"
    ),
)

CHINESE_TRAIN = Wording(
    "zh",
    _table(
        """council: {}市政府 | {}區公所 | {}縣政府
        university: {}大學 | 國立{}學院 | {}科技大學
        museum: {}博物館 | {}美術館 | {}文化中心
        club: {}登山社 | {}合唱團 | {}棋藝協會
        company: {}電子股份有限公司 | {}食品 | {}保險"""
    ),
    _split("青山 | 河東 | 明湖 | 南港灣 | 石門 | 竹林 | 白沙 | 長春 | 興安 | 永寧 | 大同里 | 新豐"),
    _table(
        """events: 活動訊息 | 活動行事曆 | 最新活動 | 藝文活動 | 活動資訊 | 近期活動 | 活動月曆 | 活動日程 | 市民活動 | 展演資訊 | 節慶活動 | 活動快訊
        news: 最新消息 | 新聞稿 | 新聞 | 市政新聞
        jobs: 徵才資訊 | 人才招募 | 職缺
        courses: 課程 | 課程資訊 | 開課一覽
        press: 媒體專區 | 新聞發布"""
    ),
    _table(
        """council: 市民服務 | 觀光旅遊 | 認識本市
        university: 校園生活 | 學生專區 | 行政單位
        museum: 參觀資訊 | 展館介紹 | 教育推廣
        club: 會員專區 | 關於本社 | 加入我們
        company: 關於我們 | 媒體中心 | 公司簡介"""
    ),
    _split(
        """關於我們 | 聯絡我們 | 歷史沿革 | 開放時間 | 交通資訊 | 隱私權政策 | 網站導覽 | 組織架構 | 出版品
        | 線上申辦 | 圖書館 | 紀念品店 | 捐款 | 常見問題 | 年度報告 | 相簿 | 友站連結 | 意見信箱"""
    ),
    _table(
        """single: 六月十二日夏日園遊會活動 | 年度晚宴活動 | 校慶活動 | 中秋晚會活動
        shop: 活動桌椅出租 | 活動帳篷專賣 | 活動布條製作 | 活動道具商店
        archive: 歷史活動檔案 | 舊活動存檔 | 歷年活動回顧 | 過去活動紀錄
        venue: 活動場地租借 | 婚宴活動場地 | 活動中心租用 | 借用會場辦活動
        policy: 活動安全規定 | 活動申請表 | 活動申請單 | 活動補助辦法
        ticker: 垃圾車行事曆 | 學年行事曆 | 考試行事曆 | 收運行事曆"""
    ),
    _split(
        "爵士樂 | 陶藝 | 地方歷史 | 園藝 | 天文 | 民俗舞蹈 | 蒸汽火車 | 詩歌 | 賞鳥 | 烘焙 | 水彩 | 機器人"
    ),
    _table(
        """events: {}之夜 | {}工作坊 | 親子日：{} | {}導覽 | {}講座
        news: {}創新高 | {}獲補助 | 議會支持{}計畫
        jobs: {}助理 | 資深{}專員 | {}主管
        courses: {}入門 | 進階{} | {}實務
        press: 新聞稿：{}合作 | 關於{}的聲明"""
    ),
    _split(
        "歡迎闔家參加 | 免費入場 | 請事先報名 | 名額有限 | 現場備有茶點 | 適合初學者 | 由本單位主辦"
    ),
    _split("{y}年{n}月{d}日 | {n}月{d}日 {h}:00"),
    _split("更多 | 詳細內容 | 閱讀全文"),
    _split("目前沒有資料。 | 查無資料。"),
    _split(
        "便民服務 | 資訊 | 熱門頁面 | 訪客 | 消息與日期 | 文件 | 線上服務 | 須知 | 常用功能 | 其他 | 主要業務"
    ),
)

CHINESE_MORE = Wording(
    "zh",
    _table(
        """council: {}鎮公所 | {}鄉公所 | {}市議會
        university: {}師範大學 | {}商學院 | {}藝術大學
        museum: {}故事館 | {}科學館 | {}文物館
        club: {}自行車隊 | {}劇團 | {}野鳥學會
        company: {}科技 | {}營造 | {}水產"""
    ),
    _split("東林 | 三星 | 玉井 | 溪口 | 北埔 | 花田 | 嘉和 | 西湖 | 平安 | 泰山 | 龍泉 | 鹿谷"),
    _table(
        """events: 活動報名 | 活動公告 | 精彩活動 | 展覽與活動 | 本月活動 | 活動總覽 | 活動專區 | 活動情報 | 假日活動 | 推薦活動 | 活動焦點 | 當季活動
        news: 新聞中心 | 即時新聞 | 公告事項 | 消息公告
        jobs: 求才 | 加入團隊 | 工作機會
        courses: 研習課程 | 課程總表 | 訓練課程
        press: 媒體報導 | 記者會"""
    ),
    _table(
        """council: 居民專區 | 休閒育樂 | 在地旅遊
        university: 校園導覽 | 社會推廣 | 系所介紹
        museum: 來館須知 | 探索 | 學習資源
        club: 一起參與 | 社務介紹 | 幹部
        company: 企業資訊 | 新聞與媒體 | 認識公司"""
    ),
    _split(
        """單位簡介 | 聯絡方式 | 本館故事 | 票價 | 位置圖 | 個資保護 | 首長信箱 | 研究 | 停車場 | 典藏
        | 禮品 | 支持我們 | 入會辦法 | 問與答 | 法律聲明 | 下載專區 | 統計資料"""
    ),
    _table(
        """single: 六月廿四日週年慶活動 | 頒獎典禮活動 | 開幕典禮活動 | 五月五日健走活動
        shop: 活動舞台販售 | 活動燈光器材 | 活動看台出租 | 活動贈品用具
        archive: 二〇一〇年以前活動 | 已結束活動檔案 | 早年活動 | 舊年度活動紀錄（停用）
        venue: 企業活動場地 | 會議廳活動預約 | 宴會廳與活動餐點 | 場地借您辦活動
        policy: 活動許可 | 活動主辦須知 | 活動報備書 | 活動責任規範
        ticker: 潮汐表 | 假期行事曆 | 學校假期表 | 街道清掃行事曆"""
    ),
    _split("歌劇 | 石牆 | 地圖 | 圍棋 | 游泳 | 合唱 | 運河 | 說故事 | 青苔 | 起司 | 版畫 | 無人機"),
    _table(
        """events: {}夜 | 動手做{} | 週六俱樂部：{} | {}走讀 | {}分享會
        news: {}計畫獲獎 | {}吸引人潮 | {}動工
        jobs: {}技術員 | {}組長 | {}學徒
        courses: {}基礎班 | {}大師班 | {}證照班
        press: 發布：{}方案 | 回應{}"""
    ),
    _split("於正門集合 | 體驗新事物 | 免費，不需報名 | 歡迎闔家參加 | 請攜帶水壺"),
    _split("{n}/{d}（{w}） | {y}.{n}.{d}"),
    _split("看更多 | 內容 | 繼續閱讀"),
    _split("本區尚無內容。 | 無資料顯示。"),
    _split(
        "快速連結 | 重點 | 諮詢 | 給大家 | 正在進行 | 主題 | 表單 | 網路辦理 | 資源 | 還有更多 | 精選"
    ),
)

CHINESE_TEST = Wording(
    "zh",
    _table(
        """council: {}直轄市政府 | {}里辦公處 | {}城鄉局
        university: {}醫學大學 | {}體育大學 | 私立{}大學
        museum: {}鐵道館 | {}當代館 | {}史前館
        club: {}足球隊 | {}攝影學會 | {}詩社
        company: {}汽車 | {}藥品 | {}能源"""
    ),
    _split(
        "鳳鳴 | 雲嶺 | 金沙 | 楓港 | 天母坡 | 梅溪 | 松江 | 瑞芳谷 | 和美村 | 望海 | 桃源 | 稻香"
    ),
    _table(
        """events: 活動一覽 | 活動列表 | 熱門活動 | 活動預告 | 演出活動 | 活動看板
        news: 新聞快訊 | 近期消息 | 頭條 | 訊息公布
        jobs: 職涯 | 招聘 | 誠徵夥伴
        courses: 課程目錄 | 班別 | 學習課程
        press: 新聞室 | 媒體資料"""
    ),
    _table(
        """council: 生活在此 | 文化體育 | 四處走走
        university: 校內 | 大眾專區 | 學院
        museum: 來看展 | 遊客中心 | 館內
        club: 本會 | 參加 | 會友
        company: 企業 | 媒體與投資人 | 集團"""
    ),
    _split(
        """組織 | 聯絡資料 | 大事記 | 時間與票價 | 地點 | 隱私 | 使用條款 | 幫助 | 團隊 | 館藏目錄 | 清潔隊
        | 網路商店 | 贊助 | 訂閱 | 發問 | 版權 | 治理 | 報告書"""
    ),
    _table(
        """single: 十月三日豐收晚餐活動 | 百年慶活動
        shop: 活動圍欄 | 派對活動用品
        archive: 上世紀活動 | 過往活動（空）
        venue: 在此舉辦您的活動 | 活動空間與餐飲
        policy: 活動通報單 | 活動保險規則
        ticker: 學期行事曆 | 資源回收行事曆"""
    ),
    _split(
        "弦樂四重奏 | 馬賽克 | 族譜 | 菇類 | 風箏 | 騷莎舞 | 燈塔 | 喜劇 | 蛾 | 酸種麵包 | 絹印 | 程式設計"
    ),
    _table(
        """events: 人人{} | 夜間{} | 與專家有約：{} | {}節 | {}音樂會
        news: {}改變城市 | {}重新開放 | {}調查出爐
        jobs: {}協調員 | {}工程師 | {}實習生
        courses: {}概論 | {}二級 | {}短期班
        press: 立即發布：{} | 評論{}"""
    ),
    _split("三十分鐘前開放入場 | 人人皆可參加 | 電話預約座位 | 難忘的夜晚 | 無須經驗 | 兒童免費"),
    _split("{y}-{n}-{d} | 週{w} {n}月{d}日"),
    _split("了解更多 | 顯示 | 資訊"),
    _split("尚無可顯示的內容。 | 抱歉，沒有結果。"),
    _split(
        "由此開始 | 最多瀏覽 | 指引 | 對象 | 目前 | 總覽 | 文書 | 自助 | 深入 | 推薦 | 延伸頁面"
    ),
)

WORDINGS = {
    ("en", "train"): ENGLISH_TRAIN,
    ("en", "more"): ENGLISH_MORE,
    ("en", "test"): ENGLISH_TEST,
    ("zh", "train"): CHINESE_TRAIN,
    ("zh", "more"): CHINESE_MORE,
    ("zh", "test"): CHINESE_TEST,
}
