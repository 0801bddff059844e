//! The words that the duplicate guard knows, and what each of them is to it.
//!
//! Every list is sorted (tests hold that) and searched by halving. Deliberately not here: names, tools, places, anything that
//! a note could be about. A word that stands in no list counts as a value by itself, so a gap makes the guard stricter.

use Family::{Conjunction, Modal, Preposition, Pronoun, Quantifier, Tense};

/// A family of little words; one for another is a change, one more or less is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Family {
    /// `and`, `or`.
    Conjunction,
    /// What may, must or will be.
    Modal,
    /// In, on, to, from.
    Preposition,
    /// Whose it is.
    Pronoun,
    /// How many of them.
    Quantifier,
    /// Is it, or was it.
    Tense,
}

/// Words that carry no fact.
#[rustfmt::skip]
pub(crate) const FILLERS: &[&str] = &[
    "a", "additionally", "also", "an", "anymore", "approximately", "as", "at", "be", "been", "being", "circa",
    "currently", "e.g", "etc", "here", "i.e", "it", "its", "itself", "kindly", "longer", "note", "now", "of",
    "please", "presently", "quite", "really", "remember", "roughly", "so", "such", "that", "the", "there",
    "these", "this", "those", "too", "update", "very", "which", "who", "whom", "whose",
];

/// Words that carry no fact when `of` follows: a group of people is people.
#[rustfmt::skip]
pub(crate) const PARTITIVES: &[&str] = &[
    "bunch", "cluster", "couple", "crowd", "group", "number", "set",
];

/// Words that turn a statement round; the commonest of other languages too, since a note may be in any.
#[rustfmt::skip]
pub(crate) const NEGATIONS: &[&str] = &[
    "aint", "arent", "barely", "cannot", "cant", "couldnt", "didnt", "doesnt", "dont", "geen", "hadnt",
    "hardly", "hasnt", "havent", "ikke", "inte", "isnt", "jamais", "kein", "keine", "keinen", "neither",
    "never", "nicht", "nie", "niemals", "niet", "no", "nobody", "non", "none", "nor", "not", "nothing",
    "nowhere", "nunca", "não", "ohne", "pas", "sans", "scarcely", "senza", "shouldnt", "wasnt", "werent",
    "without", "wont", "wouldnt", "без", "не", "нельзя", "нет", "никогда",
];

/// Number words and ordinals, as digits. `one` and `first` are apart: too often they count nothing.
#[rustfmt::skip]
pub(crate) const NUMBERS: &[(&str, &str)] = &[
    ("billion", "billion"), ("billions", "billion"), ("double", "double"), ("doubled", "double"),
    ("dozen", "dozen"), ("dozens", "dozen"), ("eight", "8"), ("eighteen", "18"), ("eighteenth", "18"),
    ("eighth", "8"), ("eighty", "80"), ("eleven", "11"), ("eleventh", "11"), ("fifteen", "15"),
    ("fifteenth", "15"), ("fifth", "5"), ("fifty", "50"), ("five", "5"), ("forty", "40"), ("four", "4"),
    ("fourteen", "14"), ("fourteenth", "14"), ("fourth", "4"), ("half", "half"), ("halves", "half"),
    ("hundred", "100"), ("hundreds", "100"), ("million", "million"), ("millions", "million"), ("nine", "9"),
    ("nineteen", "19"), ("nineteenth", "19"), ("ninety", "90"), ("ninth", "9"), ("quarter", "quarter"),
    ("quarters", "quarter"), ("second", "2"), ("seven", "7"), ("seventeen", "17"), ("seventeenth", "17"),
    ("seventh", "7"), ("seventy", "70"), ("six", "6"), ("sixteen", "16"), ("sixteenth", "16"), ("sixth", "6"),
    ("sixty", "60"), ("ten", "10"), ("tenth", "10"), ("third", "3"), ("thirteen", "13"), ("thirteenth", "13"),
    ("thirtieth", "30"), ("thirty", "30"), ("thousand", "1000"), ("thousands", "1000"), ("three", "3"),
    ("thrice", "thrice"), ("triple", "triple"), ("tripled", "triple"), ("twelfth", "12"), ("twelve", "12"),
    ("twentieth", "20"), ("twenty", "20"), ("twice", "twice"), ("two", "2"), ("zero", "0"),
];

/// Units, currencies, calendar words and colours: a value by themselves, under one name for all spellings.
#[rustfmt::skip]
pub(crate) const UNITS: &[(&str, &str)] = &[
    ("$", "dollar"), ("%", "percent"), ("a.m", "am"), ("annual", "yearly"), ("annually", "yearly"),
    ("apr", "april"), ("april", "april"), ("aug", "august"), ("august", "august"), ("bit", "bit"),
    ("bits", "bit"), ("biweekly", "biweekly"), ("black", "black"), ("blue", "blue"), ("brown", "brown"),
    ("bucks", "dollar"), ("byte", "byte"), ("bytes", "byte"), ("calorie", "kcal"), ("calories", "kcal"),
    ("celsius", "celsius"), ("cent", "cent"), ("centimeter", "cm"), ("centimeters", "cm"), ("centimetre", "cm"),
    ("centimetres", "cm"), ("cents", "cent"), ("cest", "cest"), ("cet", "cet"), ("chf", "franc"), ("cm", "cm"),
    ("cny", "yuan"), ("cup", "cup"), ("cups", "cup"), ("daily", "daily"), ("day", "day"), ("days", "day"),
    ("decade", "decade"), ("decades", "decade"), ("december", "december"), ("degree", "degree"),
    ("degrees", "degree"), ("dollar", "dollar"), ("dollars", "dollar"), ("edt", "est"), ("est", "est"),
    ("eur", "euro"), ("euro", "euro"), ("euros", "euro"), ("fahrenheit", "fahrenheit"), ("feb", "february"),
    ("february", "february"), ("feet", "foot"), ("fortnightly", "biweekly"), ("fps", "fps"), ("franc", "franc"),
    ("francs", "franc"), ("fri", "fri"), ("friday", "fri"), ("fridays", "fri"), ("ft", "foot"), ("gb", "gb"),
    ("gbp", "pound"), ("gbps", "gbps"), ("ghz", "ghz"), ("gib", "gib"), ("gigabyte", "gb"), ("gigabytes", "gb"),
    ("gmt", "utc"), ("gram", "gram"), ("grams", "gram"), ("gray", "grey"), ("green", "green"), ("grey", "grey"),
    ("hour", "h"), ("hourly", "hourly"), ("hours", "h"), ("hr", "h"), ("hrs", "h"), ("hz", "hz"),
    ("inch", "inch"), ("inches", "inch"), ("inr", "rupee"), ("jan", "january"), ("january", "january"),
    ("jpy", "yen"), ("jul", "july"), ("july", "july"), ("jun", "june"), ("june", "june"), ("kb", "kb"),
    ("kbps", "kbps"), ("kcal", "kcal"), ("kg", "kg"), ("kgs", "kg"), ("khz", "khz"), ("kib", "kib"),
    ("kilo", "kg"), ("kilobyte", "kb"), ("kilobytes", "kb"), ("kilogram", "kg"), ("kilograms", "kg"),
    ("kilometer", "km"), ("kilometers", "km"), ("kilometre", "km"), ("kilometres", "km"), ("kilos", "kg"),
    ("km", "km"), ("kms", "km"), ("krona", "krona"), ("kronor", "krona"), ("kw", "kw"), ("kwh", "kwh"),
    ("lb", "lb"), ("lbs", "lb"), ("liter", "litre"), ("liters", "litre"), ("litre", "litre"),
    ("litres", "litre"), ("mah", "mah"), ("mb", "mb"), ("mbps", "mbps"), ("mcg", "mcg"), ("megabyte", "mb"),
    ("megabytes", "mb"), ("meter", "metre"), ("meters", "metre"), ("metre", "metre"), ("metres", "metre"),
    ("mg", "mg"), ("mhz", "mhz"), ("mi", "mile"), ("mib", "mib"), ("microgram", "mcg"), ("micrograms", "mcg"),
    ("mile", "mile"), ("miles", "mile"), ("milligram", "mg"), ("milligrams", "mg"), ("milliliter", "ml"),
    ("milliliters", "ml"), ("millilitre", "ml"), ("millilitres", "ml"), ("millimeter", "mm"),
    ("millimeters", "mm"), ("millimetre", "mm"), ("millimetres", "mm"), ("millisecond", "ms"),
    ("milliseconds", "ms"), ("mins", "min"), ("minute", "min"), ("minutes", "min"), ("ml", "ml"), ("mm", "mm"),
    ("monday", "mon"), ("mondays", "mon"), ("month", "month"), ("monthly", "monthly"), ("months", "month"),
    ("ms", "ms"), ("msec", "ms"), ("nanosecond", "ns"), ("nanoseconds", "ns"), ("nightly", "nightly"),
    ("nov", "november"), ("november", "november"), ("ns", "ns"), ("oct", "october"), ("october", "october"),
    ("orange", "orange"), ("ounce", "ounce"), ("ounces", "ounce"), ("oz", "ounce"), ("p.m", "pm"), ("pb", "pb"),
    ("pct", "percent"), ("pdt", "pst"), ("percent", "percent"), ("petabyte", "pb"), ("petabytes", "pb"),
    ("pink", "pink"), ("pixel", "px"), ("pixels", "px"), ("pm", "pm"), ("pound", "pound"), ("pounds", "pound"),
    ("pst", "pst"), ("purple", "purple"), ("px", "px"), ("quarterly", "quarterly"), ("red", "red"),
    ("renminbi", "yuan"), ("rouble", "rouble"), ("roubles", "rouble"), ("rpm", "rpm"), ("rub", "rouble"),
    ("rupee", "rupee"), ("rupees", "rupee"), ("saturday", "sat"), ("saturdays", "sat"), ("sec", "s"),
    ("seconds", "s"), ("secs", "s"), ("sek", "krona"), ("sept", "september"), ("september", "september"),
    ("sunday", "sun"), ("sundays", "sun"), ("tablespoon", "tablespoon"), ("tablespoons", "tablespoon"),
    ("tb", "tb"), ("tbsp", "tablespoon"), ("teaspoon", "teaspoon"), ("teaspoons", "teaspoon"),
    ("terabyte", "tb"), ("terabytes", "tb"), ("thu", "thu"), ("thur", "thu"), ("thurs", "thu"),
    ("thursday", "thu"), ("thursdays", "thu"), ("tib", "tib"), ("today", "today"), ("tomorrow", "tomorrow"),
    ("ton", "ton"), ("tonne", "ton"), ("tonnes", "ton"), ("tons", "ton"), ("tsp", "teaspoon"), ("tue", "tue"),
    ("tues", "tue"), ("tuesday", "tue"), ("tuesdays", "tue"), ("usd", "dollar"), ("utc", "utc"),
    ("volt", "volt"), ("volts", "volt"), ("watt", "watt"), ("watts", "watt"), ("wednesday", "wed"),
    ("wednesdays", "wed"), ("week", "week"), ("weekday", "weekday"), ("weekdays", "weekday"),
    ("weekend", "weekend"), ("weekends", "weekend"), ("weekly", "weekly"), ("weeks", "week"),
    ("white", "white"), ("yard", "yard"), ("yards", "yard"), ("year", "year"), ("yearly", "yearly"),
    ("years", "year"), ("yellow", "yellow"), ("yen", "yen"), ("yesterday", "yesterday"), ("yr", "year"),
    ("yrs", "year"), ("yuan", "yuan"), ("£", "pound"), ("¥", "yen"), ("°", "degree"), ("°c", "celsius"),
    ("°f", "fahrenheit"), ("€", "euro"), ("₹", "rupee"), ("₽", "rouble"),
];

/// Calendar words that are common words too, unless written with a capital.
#[rustfmt::skip]
pub(crate) const UNITS_IF_CAPITAL: &[(&str, &str)] = &[
    ("dec", "december"), ("mar", "march"), ("march", "march"), ("may", "may"), ("mon", "mon"), ("sat", "sat"),
    ("sep", "september"), ("sun", "sun"), ("wed", "wed"),
];

/// Units that are common words or letters too, unless they follow a number.
#[rustfmt::skip]
pub(crate) const UNITS_AFTER_NUMBER: &[(&str, &str)] = &[
    ("am", "am"), ("c", "celsius"), ("d", "day"), ("f", "fahrenheit"), ("g", "gram"), ("h", "h"),
    ("l", "litre"), ("m", "metre"), ("min", "min"), ("s", "s"), ("second", "s"), ("us", "us"), ("v", "volt"),
    ("w", "watt"), ("µs", "us"),
];

/// Words of direction, order, extent, doubt and reversal: one more or less of them makes another fact.
#[rustfmt::skip]
pub(crate) const STRONG: &[(&str, &str)] = &[
    ("above", "above"), ("acting", "acting"), ("actually", "actually"), ("after", "after"), ("again", "again"),
    ("against", "against"), ("alleged", "alleged"), ("allegedly", "alleged"), ("allow", "allow"),
    ("almost", "almost"), ("always", "always"), ("another", "other"), ("archive", "archive"),
    ("assistant", "assistant"), ("attempt", "try"), ("avoid", "avoid"), ("backup", "backup"), ("ban", "ban"),
    ("before", "before"), ("behind", "behind"), ("below", "below"), ("beneath", "below"), ("beyond", "beyond"),
    ("both", "both"), ("bottom", "bottom"), ("cancel", "cancel"), ("cease", "cease"), ("consider", "consider"),
    ("correction", "correction"), ("decline", "decline"), ("decrease", "decrease"), ("delete", "delete"),
    ("deny", "deny"), ("deprecate", "deprecate"), ("deputy", "deputy"), ("different", "other"),
    ("disable", "disable"), ("down", "down"), ("draft", "draft"), ("drop", "drop"), ("earlier", "early"),
    ("early", "early"), ("east", "east"), ("eastern", "east"), ("enable", "enable"), ("ex", "ex"),
    ("except", "except"), ("exclude", "except"), ("excluding", "except"), ("exclusively", "only"),
    ("expire", "expire"), ("fail", "fail"), ("fake", "fake"), ("false", "false"), ("far", "far"),
    ("few", "fewer"), ("fewer", "fewer"), ("forbid", "ban"), ("forbidden", "ban"), ("forget", "forget"),
    ("former", "former"), ("formerly", "former"), ("future", "future"), ("honorary", "honorary"),
    ("hope", "hope"), ("if", "if"), ("incoming", "incoming"), ("increase", "increase"), ("indoor", "indoors"),
    ("indoors", "indoors"), ("instead", "instead"), ("intend", "intend"), ("interim", "interim"),
    ("junior", "junior"), ("just", "just"), ("lack", "lack"), ("last", "last"), ("late", "late"),
    ("later", "late"), ("least", "least"), ("left", "left"), ("less", "less"), ("mainly", "most"),
    ("max", "maximum"), ("maximum", "maximum"), ("maybe", "maybe"), ("min", "minimum"), ("minimum", "minimum"),
    ("mock", "fake"), ("more", "more"), ("most", "most"), ("mostly", "most"), ("near", "near"),
    ("nearly", "almost"), ("next", "next"), ("north", "north"), ("northern", "north"), ("obsolete", "obsolete"),
    ("occasionally", "sometimes"), ("off", "off"), ("old", "old"), ("only", "only"), ("optional", "optional"),
    ("optionally", "optional"), ("other", "other"), ("outdoor", "outside"), ("outdoors", "outside"),
    ("outgoing", "outgoing"), ("outside", "outside"), ("partially", "partly"), ("partly", "partly"),
    ("pause", "stop"), ("pending", "pending"), ("perhaps", "maybe"), ("permit", "allow"), ("plan", "plan"),
    ("possibly", "maybe"), ("post", "post"), ("postpone", "postpone"), ("potential", "potential"),
    ("potentially", "potential"), ("pre", "pre"), ("pretend", "pretend"), ("prevent", "prevent"),
    ("previous", "previous"), ("previously", "former"), ("primary", "primary"), ("private", "private"),
    ("probably", "maybe"), ("prohibit", "ban"), ("propose", "propose"), ("public", "public"), ("quit", "quit"),
    ("rarely", "seldom"), ("refuse", "refuse"), ("reject", "reject"), ("remove", "delete"),
    ("rename", "rename"), ("replace", "replace"), ("reportedly", "alleged"), ("retired", "retired"),
    ("revert", "revert"), ("secondary", "secondary"), ("seem", "pretend"), ("seldom", "seldom"),
    ("senior", "senior"), ("solely", "only"), ("sometimes", "sometimes"), ("soon", "soon"), ("south", "south"),
    ("southern", "south"), ("stop", "stop"), ("supposed", "alleged"), ("supposedly", "alleged"),
    ("suspend", "suspend"), ("switch", "switch"), ("temporarily", "temporary"), ("temporary", "temporary"),
    ("tentative", "tentative"), ("tentatively", "tentative"), ("than", "than"), ("think", "think"),
    ("till", "until"), ("top", "top"), ("true", "true"), ("try", "try"), ("unclear", "unclear"),
    ("under", "below"), ("underneath", "below"), ("unless", "unless"), ("unofficial", "unofficial"),
    ("until", "until"), ("upcoming", "future"), ("usually", "usually"), ("vice", "vice"), ("want", "want"),
    ("west", "west"), ("western", "west"), ("wish", "wish"), ("yes", "yes"),
];

/// Little words that change a fact only when another of their family takes their place.
#[rustfmt::skip]
pub(crate) const RELATIONS: &[(&str, Family, &str)] = &[
    ("&", Conjunction, "and"), ("about", Preposition, "about"), ("across", Preposition, "in"),
    ("all", Quantifier, "all"), ("along", Preposition, "beside"), ("alongside", Preposition, "beside"),
    ("am", Tense, "now"), ("among", Preposition, "between"), ("amongst", Preposition, "between"),
    ("and", Conjunction, "and"), ("any", Quantifier, "some"), ("are", Tense, "now"),
    ("around", Preposition, "around"), ("beside", Preposition, "beside"), ("besides", Preposition, "beside"),
    ("between", Preposition, "between"), ("by", Preposition, "by"), ("can", Modal, "can"),
    ("could", Modal, "can"), ("did", Tense, "then"), ("do", Tense, "now"), ("does", Tense, "now"),
    ("during", Preposition, "in"), ("each", Quantifier, "all"), ("every", Quantifier, "all"),
    ("everybody", Quantifier, "all"), ("everyone", Quantifier, "all"), ("everything", Quantifier, "all"),
    ("few", Quantifier, "some"), ("for", Preposition, "for"), ("from", Preposition, "from"),
    ("gonna", Modal, "will"), ("had", Tense, "then"), ("has", Tense, "now"), ("have", Tense, "now"),
    ("he", Pronoun, "he"), ("her", Pronoun, "she"), ("hers", Pronoun, "she"), ("herself", Pronoun, "she"),
    ("him", Pronoun, "he"), ("himself", Pronoun, "he"), ("his", Pronoun, "he"), ("i", Pronoun, "first"),
    ("in", Preposition, "in"), ("inside", Preposition, "in"), ("into", Preposition, "in"), ("is", Tense, "now"),
    ("many", Quantifier, "many"), ("may", Modal, "may"), ("me", Pronoun, "first"), ("might", Modal, "may"),
    ("mine", Pronoun, "first"), ("must", Modal, "must"), ("my", Pronoun, "first"), ("myself", Pronoun, "first"),
    ("on", Preposition, "on"), ("onto", Preposition, "on"), ("or", Conjunction, "or"),
    ("ought", Modal, "should"), ("our", Pronoun, "first"), ("ours", Pronoun, "first"),
    ("ourselves", Pronoun, "first"), ("out", Preposition, "out"), ("over", Preposition, "over"),
    ("past", Preposition, "past"), ("per", Preposition, "per"), ("plus", Conjunction, "and"),
    ("round", Preposition, "around"), ("several", Quantifier, "some"), ("shall", Modal, "must"),
    ("she", Pronoun, "she"), ("should", Modal, "should"), ("since", Preposition, "since"),
    ("some", Quantifier, "some"), ("their", Pronoun, "they"), ("theirs", Pronoun, "they"),
    ("them", Pronoun, "they"), ("themselves", Pronoun, "they"), ("they", Pronoun, "they"),
    ("through", Preposition, "in"), ("throughout", Preposition, "in"), ("to", Preposition, "to"),
    ("toward", Preposition, "to"), ("towards", Preposition, "to"), ("up", Preposition, "up"),
    ("upon", Preposition, "on"), ("us", Pronoun, "first"), ("user", Pronoun, "first"),
    ("users", Pronoun, "first"), ("using", Preposition, "with"), ("via", Preposition, "in"),
    ("was", Tense, "then"), ("we", Pronoun, "first"), ("were", Tense, "then"), ("will", Modal, "will"),
    ("with", Preposition, "with"), ("within", Preposition, "in"), ("would", Modal, "will"),
    ("you", Pronoun, "second"), ("your", Pronoun, "second"), ("yours", Pronoun, "second"),
    ("yourself", Pronoun, "second"),
];

/// What is of a land, and the land.
#[rustfmt::skip]
pub(crate) const LANDS: &[(&str, &str)] = &[
    ("african", "africa"), ("american", "america"), ("asian", "asia"), ("australian", "australia"),
    ("austrian", "austria"), ("belgian", "belgium"), ("brazilian", "brazil"), ("british", "britain"),
    ("canadian", "canada"), ("chinese", "china"), ("danish", "denmark"), ("dutch", "netherlands"),
    ("egyptian", "egypt"), ("european", "europe"), ("finnish", "finland"), ("french", "france"),
    ("german", "germany"), ("greek", "greece"), ("hungarian", "hungary"), ("indian", "india"),
    ("irish", "ireland"), ("israeli", "israel"), ("italian", "italy"), ("japanese", "japan"),
    ("korean", "korea"), ("mexican", "mexico"), ("norwegian", "norway"), ("polish", "poland"),
    ("portuguese", "portugal"), ("russian", "russia"), ("scottish", "scotland"), ("spanish", "spain"),
    ("swedish", "sweden"), ("swiss", "switzerland"), ("turkish", "turkey"), ("ukrainian", "ukraine"),
    ("vietnamese", "vietnam"),
];

/// Forms that no ending explains, and their base.
#[rustfmt::skip]
pub(crate) const IRREGULAR: &[(&str, &str)] = &[
    ("ate", "eat"), ("began", "begin"), ("begun", "begin"), ("bit", "bite"), ("bitten", "bite"),
    ("bought", "buy"), ("broke", "break"), ("broken", "break"), ("brought", "bring"), ("built", "build"),
    ("came", "come"), ("canceled", "cancel"), ("canceling", "cancel"), ("cancelled", "cancel"),
    ("cancelling", "cancel"), ("caught", "catch"), ("children", "child"), ("chose", "choose"),
    ("chosen", "choose"), ("denied", "deny"), ("denies", "deny"), ("done", "do"), ("drank", "drink"),
    ("drawn", "draw"), ("drew", "draw"), ("driven", "drive"), ("drove", "drive"), ("drunk", "drink"),
    ("eaten", "eat"), ("fallen", "fall"), ("fed", "feed"), ("feet", "foot"), ("fell", "fall"), ("flew", "fly"),
    ("flown", "fly"), ("forgot", "forget"), ("forgotten", "forget"), ("found", "find"), ("gave", "give"),
    ("geese", "goose"), ("given", "give"), ("goes", "go"), ("gone", "go"), ("got", "get"), ("gotten", "get"),
    ("grew", "grow"), ("grown", "grow"), ("heard", "hear"), ("held", "hold"), ("hid", "hide"),
    ("hidden", "hide"), ("kept", "keep"), ("knew", "know"), ("knives", "knife"), ("known", "know"),
    ("lain", "lie"), ("lay", "lie"), ("leaves", "leaf"), ("led", "lead"), ("lives", "life"), ("lost", "lose"),
    ("made", "make"), ("men", "man"), ("met", "meet"), ("mice", "mouse"), ("paid", "pay"), ("people", "person"),
    ("persons", "person"), ("ran", "run"), ("ridden", "ride"), ("risen", "rise"), ("rode", "ride"),
    ("rose", "rise"), ("said", "say"), ("sang", "sing"), ("sat", "sit"), ("saw", "see"), ("seen", "see"),
    ("sent", "send"), ("shaken", "shake"), ("shook", "shake"), ("shown", "show"), ("slept", "sleep"),
    ("sold", "sell"), ("spent", "spend"), ("spoke", "speak"), ("spoken", "speak"), ("stole", "steal"),
    ("stolen", "steal"), ("stood", "stand"), ("sung", "sing"), ("swam", "swim"), ("swum", "swim"),
    ("taken", "take"), ("taught", "teach"), ("teeth", "tooth"), ("thought", "think"), ("threw", "throw"),
    ("thrown", "throw"), ("told", "tell"), ("took", "take"), ("understood", "understand"), ("used", "use"),
    ("using", "use"), ("went", "go"), ("wives", "wife"), ("woke", "wake"), ("woken", "wake"),
    ("women", "woman"), ("won", "win"), ("wore", "wear"), ("worn", "wear"), ("written", "write"),
    ("wrote", "write"),
];

/// Verbs whose past is the verb itself.
pub(crate) const UNCHANGED: &[&str] = &[
    "cast", "cost", "cut", "hit", "hurt", "let", "put", "quit", "read", "set", "shut", "split",
    "spread",
];

/// Words, and the more general one that names the same being.
#[rustfmt::skip]
pub(crate) const KINDS: &[(&str, &str)] = &[
    ("boy", "child"), ("girl", "child"), ("kitten", "cat"), ("man", "person"), ("puppy", "dog"),
    ("woman", "person"),
];

/// Words that say the same, under one of them. Only such as no note would correct into each other.
#[rustfmt::skip]
pub(crate) const SYNONYMS: &[(&str, &str)] = &[
    ("aeroplane", "plane"), ("aid", "assist"), ("aircraft", "plane"), ("airplane", "plane"), ("allow", "allow"),
    ("answer", "answer"), ("app", "application"), ("application", "application"), ("assist", "assist"),
    ("automobile", "car"), ("baby", "baby"), ("begin", "begin"), ("bicycle", "bicycle"), ("big", "big"),
    ("bike", "bicycle"), ("brush", "comb"), ("bug", "bug"), ("build", "build"), ("bunch", "group"),
    ("buy", "buy"), ("called", "name"), ("car", "car"), ("cellphone", "phone"), ("center", "centre"),
    ("centre", "centre"), ("chat", "talk"), ("child", "child"), ("choose", "choose"), ("chop", "cut"),
    ("clean", "clean"), ("clever", "smart"), ("color", "colour"), ("colour", "colour"), ("comb", "comb"),
    ("commence", "begin"), ("complete", "finish"), ("config", "configuration"),
    ("configuration", "configuration"), ("construct", "build"), ("conversation", "talk"), ("converse", "talk"),
    ("cop", "policeman"), ("couch", "couch"), ("cut", "cut"), ("cycle", "bicycle"), ("dad", "father"),
    ("database", "database"), ("db", "database"), ("defect", "bug"), ("dice", "cut"), ("directory", "folder"),
    ("discuss", "talk"), ("discussion", "talk"), ("display", "show"), ("docs", "documentation"),
    ("doctor", "doctor"), ("documentation", "documentation"), ("enjoy", "like"), ("enormous", "enormous"),
    ("env", "environment"), ("environment", "environment"), ("fast", "fast"), ("father", "father"),
    ("favor", "like"), ("favorite", "favourite"), ("favour", "like"), ("favourite", "favourite"),
    ("film", "film"), ("finish", "finish"), ("fix", "fix"), ("folder", "folder"), ("fond", "like"),
    ("food", "food"), ("forest", "forest"), ("frequently", "often"), ("garbage", "garbage"), ("gaze", "look"),
    ("get", "get"), ("gigantic", "enormous"), ("glad", "happy"), ("grass", "grass"), ("group", "group"),
    ("guy", "man"), ("happy", "happy"), ("help", "assist"), ("hit", "hit"), ("holiday", "holiday"),
    ("hop", "jump"), ("huge", "big"), ("human", "person"), ("ill", "ill"), ("incorrect", "wrong"),
    ("infant", "baby"), ("info", "information"), ("information", "information"), ("insert", "put"),
    ("item", "thing"), ("javascript", "javascript"), ("jog", "run"), ("js", "javascript"), ("jump", "jump"),
    ("keep", "keep"), ("kid", "child"), ("lady", "woman"), ("large", "big"), ("lawn", "grass"),
    ("leap", "jump"), ("licence", "licence"), ("license", "licence"), ("like", "like"), ("little", "small"),
    ("live", "live"), ("look", "look"), ("love", "like"), ("man", "man"), ("meal", "food"), ("mom", "mother"),
    ("mother", "mother"), ("motorbike", "motorcycle"), ("motorcycle", "motorcycle"), ("movie", "film"),
    ("mum", "mother"), ("named", "name"), ("need", "need"), ("noise", "noise"), ("object", "thing"),
    ("obtain", "get"), ("ocean", "sea"), ("often", "often"), ("pack", "put"), ("path", "path"),
    ("perform", "perform"), ("permit", "allow"), ("person", "person"), ("phone", "phone"), ("photo", "photo"),
    ("photograph", "photo"), ("physician", "doctor"), ("pick", "choose"), ("picture", "photo"),
    ("place", "put"), ("plane", "plane"), ("play", "perform"), ("policeman", "policeman"),
    ("postgres", "postgres"), ("postgresql", "postgres"), ("prefer", "like"), ("prod", "production"),
    ("production", "production"), ("purchase", "buy"), ("put", "put"), ("quick", "fast"), ("quickly", "fast"),
    ("rapid", "fast"), ("rapidly", "fast"), ("receive", "get"), ("relax", "rest"), ("repair", "fix"),
    ("reply", "answer"), ("repo", "repository"), ("repository", "repository"), ("require", "need"),
    ("reside", "live"), ("respond", "answer"), ("response", "answer"), ("rest", "rest"), ("retain", "keep"),
    ("rock", "rock"), ("rubbish", "garbage"), ("run", "run"), ("sad", "sad"), ("scream", "shout"), ("sea", "sea"),
    ("select", "choose"), ("shout", "shout"), ("show", "show"), ("sick", "ill"), ("slice", "cut"),
    ("small", "small"), ("smart", "smart"), ("sofa", "couch"), ("somebody", "person"), ("someone", "person"),
    ("something", "thing"), ("sound", "noise"), ("speak", "talk"), ("stare", "look"), ("start", "begin"),
    ("stone", "rock"), ("strike", "hit"), ("stroll", "walk"), ("talk", "talk"), ("teen", "teen"),
    ("teenage", "teen"), ("teenager", "teen"), ("telephone", "phone"), ("television", "television"),
    ("thing", "thing"), ("throw", "throw"), ("tiny", "small"), ("toss", "throw"), ("trail", "path"),
    ("trash", "garbage"), ("trot", "run"), ("ts", "typescript"), ("tv", "television"),
    ("typescript", "typescript"), ("unhappy", "sad"), ("use", "use"), ("utilise", "use"), ("utilize", "use"),
    ("vacation", "holiday"), ("walk", "walk"), ("watch", "look"), ("wipe", "clean"), ("woman", "woman"),
    ("woods", "forest"), ("wrong", "wrong"), ("yell", "shout"),
];

/// Short for a listed word: written in capitals, and no names.
pub(crate) const ABBREVIATIONS: &[&str] = &["db", "js", "ts", "tv"];

/// Looks a word up in a sorted list of words.
pub(crate) fn holds(list: &[&str], word: &str) -> bool {
    list.binary_search(&word).is_ok()
}

/// What a sorted list of pairs says for a word.
pub(crate) fn says(list: &[(&str, &'static str)], word: &str) -> Option<&'static str> {
    list.binary_search_by(|(key, _)| (*key).cmp(word)).ok().map(|at| list[at].1)
}

/// The family of a little word, and the one that stands for its likes.
pub(crate) fn relation(word: &str) -> Option<(Family, &'static str)> {
    let at = RELATIONS.binary_search_by(|(key, _, _)| (*key).cmp(word)).ok()?;
    Some((RELATIONS[at].1, RELATIONS[at].2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_is_sorted_and_says_nothing_twice() {
        for list in [FILLERS, NEGATIONS, PARTITIVES, UNCHANGED] {
            assert!(list.is_sorted_by(|a, b| a < b), "{list:?}");
        }
        for list in [
            NUMBERS,
            UNITS,
            UNITS_IF_CAPITAL,
            UNITS_AFTER_NUMBER,
            STRONG,
            IRREGULAR,
            KINDS,
            LANDS,
            SYNONYMS,
        ] {
            assert!(list.is_sorted_by(|a, b| a.0 < b.0), "{list:?}");
        }
        assert!(RELATIONS.is_sorted_by(|a, b| a.0 < b.0));
    }
}
