//! Times of queries in other languages, and queries that name none.

use super::*;
use crate::text::features;
use proptest::prelude::*;

/// Wednesday, 13 May 2026.
const TODAY: &str = "2026-05-13";

fn day(text: &str) -> i32 {
    features::day(text).expect("the text is a date")
}

fn times(query: &str) -> Vec<Time> {
    let mut found = parse(&query.to_lowercase(), day(TODAY));
    found.sort_by_key(|(at, _)| at.start);
    found.into_iter().map(|(_, time)| time).collect()
}

fn month(year: Option<i32>, month: u32, day: Option<u32>) -> Time {
    Time::Calendar(CalendarDate::new(year, month, day))
}

#[test]
fn a_relative_time_is_found_in_every_language() {
    let (yesterday, before) = (["2026-05-12"; 2], ["2026-05-11"; 2]);
    let (week, last_month) = (["2026-05-04", "2026-05-10"], ["2026-04-01", "2026-04-30"]);
    let last_year = ["2025-01-01", "2025-12-31"];
    for (query, [first, last]) in [
        ("Was haben wir gestern beschlossen?", yesterday),
        ("Wer kam letzte Woche?", week),
        ("die Fehler der nächsten Woche und letzten Monat", last_month),
        ("qu'avons-nous décidé avant-hier", before),
        ("hier, qu'est-ce que nous avons fait", yesterday),
        ("le bug de la semaine derniere", week),
        ("les dépenses de l’année dernière", last_year),
        ("¿qué pasó el mes pasado?", last_month),
        ("lo que decidimos ayer", yesterday),
        ("el lunes pasado", before),
        ("cosa abbiamo deciso ieri", yesterday),
        ("l'altro ieri", before),
        ("il mese scorso", last_month),
        ("o que mudou na semana passada", week),
        ("ontem", yesterday),
        ("wat is er vorige week gebeurd", week),
        ("eergisteren", before),
        ("co ustalono w zeszłym tygodniu", week),
        ("w zeszlym roku", last_year),
        ("ce am decis luna trecută", last_month),
        ("ieri", yesterday),
        ("что решили в прошлом месяце", last_month),
        ("вчера", yesterday),
        ("geçen hafta ne oldu", week),
        ("dün ne oldu", yesterday),
        ("ماذا قررنا الأسبوع الماضي", week),
        ("ماذا قررنا أمس", yesterday),
        ("hôm qua chúng ta làm gì", yesterday),
        ("tuan truoc", week),
        ("我们上周决定了什么", week),
        ("上个月的账单", last_month),
        ("我们上周一决定了什么", ["2026-05-04"; 2]),
        ("先月の請求書", last_month),
        ("先週の水曜日", ["2026-05-06"; 2]),
        ("vad hände igår", yesterday),
        ("letzten Mittwoch", ["2026-05-06"; 2]),
        ("nächsten Montag", ["2026-05-18"; 2]),
        ("diesen Freitag", ["2026-05-15"; 2]),
    ] {
        let days = DayRange { first: day(first), last: day(last) };
        assert_eq!(times(query), [Time::Days(days)], "{query}");
    }
}

#[test]
fn a_month_is_found_with_its_day_and_its_year() {
    for (query, year, number, day) in [
        ("im Mai", None, 5, None),
        ("was geschah am 12. September 2026", Some(2026), 9, Some(12)),
        ("die Sitzung vom 3. März", None, 3, Some(3)),
        ("Rechnungen im Januar", None, 1, None),
        ("la réunion du 12 mai 2026", Some(2026), 5, Some(12)),
        ("le 1er août", None, 8, Some(1)),
        ("en fevrier", None, 2, None),
        ("le 12 févr. 2026", Some(2026), 2, Some(12)),
        ("en mayo", None, 5, None),
        ("el 12 de mayo de 2026", Some(2026), 5, Some(12)),
        ("la factura de enero", None, 1, None),
        ("a maggio", None, 5, None),
        ("em março de 2025", Some(2025), 3, None),
        ("in mei", None, 5, None),
        ("12 maart", None, 3, Some(12)),
        ("w maju", None, 5, None),
        ("we wrześniu 2025", Some(2025), 9, None),
        ("spotkanie 12 maja 2026", Some(2026), 5, Some(12)),
        ("în mai", None, 5, None),
        ("в мае", None, 5, None),
        ("в прошлую среду, 6 мая", None, 5, Some(6)),
        ("отчёт за январь", None, 1, None),
        ("12 Mayıs 2026", Some(2026), 5, Some(12)),
        ("في مايو", None, 5, None),
        ("ngày 12 tháng 5 năm 2026", Some(2026), 5, Some(12)),
        ("2026年5月12日发生了什么", Some(2026), 5, Some(12)),
        ("十一月的账单", None, 11, None),
        ("5月の請求書", None, 5, None),
        ("mötet i maj", None, 5, None),
    ] {
        let found = times(query);
        assert_eq!(found.last(), Some(&month(year, number, day)), "{query}: {found:?}");
    }
}

/// Ordinary queries that name no time.
const WITHOUT_TIME: [&str; 62] = [
    "may I deploy",
    "how do I march the tests",
    "who set the alarm",
    "what did Jan say",
    "did Marco sign the contract",
    "who is Avril",
    "the Mars 2020 rover",
    "what did we see on Mars",
    "is the mai tai on the menu",
    "who lives in Maine",
    "the office in Maine",
    "who paid Mr Ayer and Ms Hoy",
    "does Kasim own the build",
    "find 12 out of 20 tests",
    "we set 3 alarms, 12 set",
    "5 gen models",
    "three of the 20 mar files",
    "what is in the mag",
    "a dun horse",
    "where is the sept of the clan",
    "the dec alpha",
    "abr keys",
    "who works for Demain",
    "what is Morgen's number",
    "the lip balm",
    "where is the juni package",
    "what does the ara crate do",
    "how long is the tem file kept",
    "run the linter for set 2024",
    "who ate the 12 Mars bars",
    "what are the nis settings",
    "the nov release notes",
    "Is Nisan our contact",
    "which gen is the cpu",
    "i dagger the note",
    "deploy the service",
    "database password",
    "who owns the mart",
    "Wo steht der Drucker?",
    "Der Drucker steht hier im Flur",
    "hier ist das Lager",
    "am Morgen frühstücken wir",
    "die Woche der Prüfung",
    "welche Farbe hat das Tor",
    "wie heißt der Chef",
    "Wo liegt die Marca Trevigiana",
    "Où est la clé de la cave",
    "quel mois est le plus cher",
    "la planète mars est rouge",
    "le mot de passe du serveur",
    "qui a le plus de vacances",
    "le jour de la fête",
    "¿dónde está la llave?",
    "por la mañana desayunamos",
    "¿cuál es la marca del coche?",
    "quién es el dueño de la casa",
    "la semana tiene siete días",
    "un mes tiene cuatro semanas",
    "sette persone, mai viste",
    "cele mai mari",
    "15月",
    "",
];

#[test]
fn a_query_without_a_time_has_none() {
    for query in WITHOUT_TIME {
        assert_eq!(times(query), [], "{query}");
    }
}

proptest! {
    #[test]
    fn ordinary_queries_together_name_no_time(a in 0..38_usize, b in 0..38_usize, upper in any::<bool>()) {
        let query = format!("{}. {}", WITHOUT_TIME[a], WITHOUT_TIME[b]);
        let query = if upper { query.to_uppercase() } else { query };
        prop_assert_eq!(times(&query), [], "{}", query);
    }

    #[test]
    fn every_query_is_read_without_a_panic(query in "(\\PC{0,8} )?(12\\. ?)?(MAI|mañana|hier|5月|上周|İ|в мае|l’altro ieri)?( 20\\d\\d)?(\\PC{0,8})?", today in any::<i32>()) {
        let lower = query.to_lowercase();
        let found = parse(&lower, today);
        prop_assert!(found.iter().all(|(at, _)| lower.get(at.clone()).is_some_and(|words| !words.is_empty())));
    }
}

#[test]
fn a_name_that_is_also_a_month_is_no_time() {
    for query in [
        "¿Quién es Julio?",
        "¿Dónde trabaja Abril?",
        "Wo wohnt August?",
        "Eylül nerede yaşıyor?",
        "Nisan kim?",
        "Chi è Maggio?",
    ] {
        assert_eq!(times(query), [], "{query}");
    }
}
