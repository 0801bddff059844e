//! The rules on words: what a text asks for that no wish of a user asks for, in several languages.
//!
//! A rule names words of one sentence in their order; `phrases` has the notation. Kept are the rules
//! that find injected texts of both halves of the public collections (`bench/trust.py`); of languages
//! that one half does not have, those that find some in the other. Not here:
//! tags and calls (`markers`), encoded text (`encoded`).

use crate::flags::flag::Flag;

/// Every rule with its flag.
pub(super) const PHRASES: &[(Flag, &str)] = &[
    // Ignore your instructions.
    (
        Flag::Override,
        "ignore|ignoring|disregard|forget|override|bypass|discard|neglect|overlook|dismiss|erase ~4 previous|prior|above|earlier|preceding|former|original|initial|system|developer|safety|your|all|any|every ~3 instruction|instructions|rules|prompt|prompts|guidelines|guideline|directives|constraints|safeguards|guardrails|orders|commands|directions|training|programming|context|restrictions|filters|requests|tasks|task|guidance",
    ),
    (
        Flag::Override,
        "ignore|disregard|forget ~2 everything|anything|all|whatever|what|rules ~3 before|above|previously|prior|told|said|given|learned|taught|instructed",
    ),
    (Flag::Override, "ignore|disregard|forget ~0 your|all|the ~0 previous|prior|above"),
    (
        Flag::Override,
        "ignore|ignoring|disregard|override|overriding|bypass|bypassing|dismiss|forget|circumvent|disable|disables ~3 safety|ethics|ethical|safeguards|guardrails|moderation|restrictions|protocols|alignment|filters|policy|policies",
    ),
    (
        Flag::Override,
        "no|without ~1 rules|limits|ethics|ethical|content|moral|filter|boundaries ~1 filter|policy|guidelines|rules|and|or|restrictions",
    ),
    (
        Flag::Override,
        "ignoriere|ignorier|ignorieren|vergiss|vergesse|vergessen|missachte|verwirf ~3 alle|allen|deine|vorherigen|vorherige|vorigen|bisherigen|bisherige|obigen|sämtliche ~3 anweisungen|anweisung|regeln|instruktionen|befehle|vorgaben|richtlinien|aufforderungen",
    ),
    (
        Flag::Override,
        "ignore|ignorez|oublie|oubliez|ignorer|oublier ~3 toutes|tous|tes|vos|précédentes|instructions|consignes ~2 instructions|instruction|consignes|directives|règles|regles|ordres|précédentes|précédents|ci",
    ),
    (
        Flag::Override,
        "ignora|ignore|ignorar|ignoren|olvida|olvide|olvidar|descarta|omite|esqueça|esquece|desconsidere|descarte|dimentica|ignorate|dimenticate|ignorare ~5 instrucciones|indicaciones|reglas|órdenes|ordenes|directrices|instruções|regras|orientações|ordens|diretrizes|istruzioni|regole|indicazioni|ordini|comandos|comandi",
    ),
    (
        Flag::Override,
        "игнорируй|игнорируйте|игнорировать|проигнорируй|проигнорируйте|забудь|забудьте|отмени ~5 инструкции|указания|правила|команды|приказы|установки",
    ),
    // Another role.
    (
        Flag::Override,
        "you|youre ~2 now|are|as ~3 dan|unrestricted|jailbroken|evil|uncensored|unfiltered|hacker|unlimited",
    ),
    (
        Flag::Override,
        "without|no|zero|sin|sans|senza|ohne|sem ~2 restrictions|filters|limitations|censorship|restricciones|restrictions|restrizioni|einschränkungen|beschränkungen|restrições|filtros",
    ),
    // Keeping something from the user.
    (
        Flag::Secrecy,
        "do|to ~0 not ~1 tell|inform|mention|alert|notify ~4 user|human|humans|anyone|anybody|owner|operator",
    ),
    (
        Flag::Secrecy,
        "dont|never|without|avoid ~1 tell|telling|inform|informing|mention|mentioning|alert|alerting|notify|notifying ~4 user|human|humans|anyone|anybody|owner|operator",
    ),
    (
        Flag::Secrecy,
        "keep|hide|conceal|hidden|secret|confidential ~4 from ~1 user|human|owner|everyone|anyone",
    ),
    // Private data to an address.
    (
        Flag::Exfiltration,
        "send|forward|email|mail|exfiltrate|transmit|leak ~8 everything|list|details|information|data|content|them|files|it|summary|output ~10 @",
    ),
    (
        Flag::Exfiltration,
        "send|upload|post|forward|exfiltrate|transmit|email|mail|leak|copy|submit|append|push|report|deliver|relay|share ~8 password|passwords|token|tokens|secret|secrets|key|keys|credential|credentials|env|conversation|conversations|chat|chats|history|memories|memory|transcript|transcripts|cookies|cookie|ssh|prompt|wallet|everything|screenshots|mailbox|logins|records|contents ~10 @",
    ),
];

/// Orders to a model, for texts from outside.
pub(super) const ORDERS: &[&str] = &[
    "ai|llm|claude|chatgpt|gpt|codex|copilot|gemini|assistant|assistants|agent|agents|chatbot ~1 must|shall|should|will|always|never",
    "note|message|reminder|notice|instruction|instructions|attention|important ~1 to|for ~1 ai|llm|claude|chatgpt|gpt|codex|copilot|gemini|assistant|assistants|agent|agents|chatbot",
    "you ~1 must|should|shall|will|need|have ~2 obey|comply|respond|reply|answer|output|pretend|recommend|claim|refuse|reveal|repeat",
];

/// Pairs of parts of an order in languages that are written without spaces, or that inflect the
/// words of it: a text with both parts matches.
pub(super) const PARTS: &[(Flag, &[&str], &[&str])] = &[
    (
        Flag::Override,
        &["忽略", "无视", "忘记", "無視", "忘掉", "忘れ", "忽視"],
        &["指令", "指示", "命令", "提示", "规则", "ルール", "プロンプト"],
    ),
    (Flag::Override, &["무시하", "무시해", "잊어"], &["지시", "명령", "규칙", "프롬프트", "지침"]),
    (Flag::Override, &["تجاهل", "انس "], &["التعليمات", "الأوامر", "تعليمات"]),
    (Flag::Override, &["अनदेखा", "भूल जा", "नज़रअंदाज़"], &["निर्देश", "आदेश"]),
    (
        Flag::Override,
        &["yoksay", "yok say", "unut", "görmezden"],
        &["talimat", "kural", "yönerge", "komut"],
    ),
    (Flag::Secrecy, &["告诉用户", "告知用户", "告訴使用者"], &["不要", "别", "請勿", "不得"]),
];
