//! The rules on words: orders to a model as injected texts word them, in several languages.
//!
//! A rule names words of one sentence in their order; `phrases` has the notation. Rules are narrow
//! on purpose: a note such as "Always run cargo fmt before commit" or "Never mention the user id in
//! logs" must not match. Not here: tags and calls (`markers`), encoded text (`encoded`).

use crate::flags::flag::Flag;

/// Every rule with its flag.
pub(super) const PHRASES: &[(Flag, &str)] = &[
    // Ignore your instructions: English.
    (
        Flag::Override,
        "ignore|disregard|forget|override|bypass|discard|neglect|overlook ~3 previous|prior|above|earlier|preceding|former|original|initial|system|developer|safety ~3 instruction|instructions|rules|prompt|prompts|guidelines|directives|constraints|safeguards|guardrails|policies|orders|commands|directions|training|programming|context",
    ),
    (
        Flag::Override,
        "ignore|disregard|forget|override|bypass ~1 your|all|any ~2 instruction|instructions|guidelines|directives|safeguards|guardrails|programming",
    ),
    (
        Flag::Override,
        "ignore|disregard|forget ~1 everything|anything|all|whatever ~3 before|above|previously|prior|told|said|learned|taught|instructed",
    ),
    (
        Flag::Override,
        "instructions|rules|guidelines|orders|directives|prompt ~4 no ~1 longer ~1 apply|applies|valid|binding",
    ),
    (
        Flag::Override,
        "new ~1 instruction|instructions|directive|directives|orders ~3 replace|override|supersede|overrule|take ~4 previous|prior|earlier|your|all|existing|precedence",
    ),
    // German, French, Spanish, Italian, Portuguese, Dutch, Polish, Swedish, Turkish, Russian.
    (
        Flag::Override,
        "ignoriere|ignorier|ignorieren|vergiss|vergesse|missachte|verwirf ~3 vorherigen|vorherige|vorigen|bisherigen|bisherige|früheren|obigen|vorangegangenen|alle|allen|deine ~2 anweisungen|anweisung|regeln|instruktionen|befehle|vorgaben|richtlinien",
    ),
    (
        Flag::Override,
        "ignore|ignorez|oublie|oubliez|ignorer|oublier ~4 instructions|consignes|directives|règles|ordres ~2 précédentes|précédents|antérieures|antérieurs|initiales|dessus|système",
    ),
    (
        Flag::Override,
        "ignora|ignore|ignorar|ignoren|olvida|olvide|olvidar|descarta|omite ~4 instrucciones|indicaciones|reglas|órdenes|ordenes|directrices ~2 anteriores|previas|precedentes|originales|sistema",
    ),
    (
        Flag::Override,
        "ignora|dimentica|ignorate|dimenticate|ignorare ~4 istruzioni|regole|indicazioni|ordini ~2 precedenti|sopra|originali|sistema",
    ),
    (
        Flag::Override,
        "ignore|ignora|esqueça|esquece|desconsidere|descarte ~4 instruções|regras|orientações|ordens|diretrizes ~2 anteriores|prévias|acima|sistema",
    ),
    (
        Flag::Override,
        "negeer|vergeet|negeert ~3 vorige|eerdere|voorgaande|bovenstaande|alle|je ~2 instructies|regels|opdrachten|aanwijzingen|richtlijnen",
    ),
    (
        Flag::Override,
        "zignoruj|ignoruj|zapomnij|pomiń|odrzuć ~3 poprzednie|wcześniejsze|wszystkie|powyższe|poprzednich|wcześniejszych|wszystkich|swoje ~2 polecenia|instrukcje|zasady|instrukcji|poleceń|reguły|wytyczne|zasadach|poleceniach|instrukcjach",
    ),
    (
        Flag::Override,
        "ignorera|glöm|bortse ~4 tidigare|föregående|alla|ovanstående ~2 instruktioner|regler|anvisningar|order",
    ),
    (
        Flag::Override,
        "önceki|yukarıdaki|tüm|bütün ~2 talimatları|talimatlarını|kuralları|yönergeleri|komutları ~2 yoksay|unut|görmezden|dikkate",
    ),
    (
        Flag::Override,
        "игнорируй|игнорируйте|проигнорируй|забудь|забудьте|отмени ~3 предыдущие|прежние|прошлые|все|всё|свои ~3 инструкции|указания|правила|команды|приказы|установки",
    ),
    // Orders to the model.
    (
        Flag::Order,
        "you ~1 must|should|shall|will|need|have ~2 obey|comply|respond|reply|answer|output|pretend|recommend|claim|insist|refuse|reveal|repeat ~9 user|users|always|never|only|with|that|every|any|all|as|to|this",
    ),
    (Flag::Order, "as ~1 an|the|my ~1 ai|llm|chatbot|assistant|language ~3 you|your"),
    (
        Flag::Order,
        "attention|important|dear|hey|hello|urgent|warning ~1 to ~1 assistant|ai|llm|claude|chatgpt|gpt|copilot|gemini|agents|models",
    ),
    (
        Flag::Order,
        "attention|important|dear|hey|urgent|notice ~1 ai|llm|llms|claude|chatgpt|copilot|gemini|assistant|assistants",
    ),
    (
        Flag::Order,
        "note|message|reminder|memo|notice|instruction|instructions|order|orders|command|directive ~1 to|for ~1 ai|llm|llms|claude|chatgpt|gpt|copilot|assistant|assistants|whichever|whatever|any ~4 you|must|always|never|do|please|ignore|send|run|reply|answer|say|treat|reading|reads",
    ),
    (
        Flag::Order,
        "ai|llm|claude|chatgpt|assistant|assistants ~1 must|shall|should ~2 always|never|obey|comply|ignore|reply|respond|answer|recommend|say|claim|trust|reveal|send|refuse|treat",
    ),
    (
        Flag::Order,
        "when|if ~1 you|an|any ~3 read|reads|see|process|recall|load|retrieve|find ~3 this|these ~6 must|do|send|run|execute|reply|respond|say|ignore|call|delete|treat|immediately|first|follow|obey|you",
    ),
    (
        Flag::Order,
        "reveal|print|output|repeat|show|display|dump|leak|disclose ~2 your|the|full|entire|hidden ~2 system|hidden|secret|initial ~1 prompt|instructions|message",
    ),
    (
        Flag::Order,
        "follow|obey|execute|perform|carry ~4 following|hidden|these|below|embedded ~2 instructions|instruction|orders|commands|steps ~4 exactly|without|silently|immediately|instead|first|now|before",
    ),
    (
        Flag::Order,
        "do ~1 exactly|only|whatever ~1 what|as ~6 says|say|tells|orders|instructs|commands|instructed",
    ),
    // Lasting orders.
    (
        Flag::LastingOrder,
        "from ~1 now|here|today|this ~2 on|onward|onwards|forward|forth ~4 always|never|you|assistant|every|respond|reply|answer|act|treat|trust|obey|ignore|pretend|claim|recommend|your",
    ),
    (
        Flag::LastingOrder,
        "henceforth|hereafter ~3 always|never|you|every|respond|reply|answer|act|treat|trust|all",
    ),
    (
        Flag::LastingOrder,
        "going ~0 forward ~2 always|never|you|respond|reply|answer|treat|trust|ignore",
    ),
    (
        Flag::LastingOrder,
        "in|for ~1 all|every|any ~2 future|later|subsequent|remaining ~2 sessions|conversations|conversation|answers|responses|replies|chats|interactions|session ~6 you|always|never|must|add|append|include|begin|end|insert|say|recommend|trust|ignore|obey",
    ),
    (
        Flag::LastingOrder,
        "ab ~0 jetzt|sofort|heute ~3 immer|nie|niemals|antworte|du|musst|sollst|befolge|ignoriere",
    ),
    (
        Flag::LastingOrder,
        "von ~0 nun|jetzt ~0 an ~3 immer|nie|niemals|antworte|du|musst|sollst|befolge|ignoriere",
    ),
    (
        Flag::LastingOrder,
        "désormais|dorénavant ~3 toujours|jamais|tu|vous|réponds|répondez|chaque|ignore|obéis",
    ),
    (
        Flag::LastingOrder,
        "a|à ~0 partir ~1 maintenant|ahora|agora ~3 toujours|jamais|tu|vous|siempre|nunca|responde|debes|sempre|responda|você|ignora|ignore|réponds",
    ),
    (Flag::LastingOrder, "dora|ora ~1 in ~0 poi|avanti ~3 sempre|mai|devi|rispondi|ignora|tu"),
    (Flag::LastingOrder, "vanaf ~0 nu ~3 altijd|nooit|je|jij|antwoord|moet|negeer"),
    (
        Flag::LastingOrder,
        "od ~0 teraz|dziś|dzisiaj ~3 zawsze|nigdy|odpowiadaj|musisz|ignoruj|każdą|każda",
    ),
    (Flag::LastingOrder, "från ~1 nu ~1 på|och ~3 alltid|aldrig|svara|du|måste"),
    (Flag::LastingOrder, "bundan|şimdiden ~1 sonra|itibaren ~3 her|daima|asla|yanıtla|sen"),
    (Flag::LastingOrder, "отныне|впредь ~3 всегда|никогда|отвечай|ты|игнорируй|должен"),
    (Flag::LastingOrder, "с ~0 этого ~0 момента ~3 всегда|никогда|отвечай|ты|игнорируй|должен"),
    // Keeping something from the user.
    (
        Flag::Secrecy,
        "not|never|dont|without ~1 tell|telling|inform|informing|mention|mentioning|warn|warning|alert|alerting|notify|notifying ~3 user|users|human|humans|anyone|anybody|owner|operator",
    ),
    (
        Flag::Secrecy,
        "without ~1 the|a|any ~1 user|users|human|owners ~2 knowledge|knowing|noticing|consent|awareness",
    ),
    (
        Flag::Secrecy,
        "keep|hide|conceal ~2 this|it|that ~3 from ~1 user|users|human|owner|everyone|anyone",
    ),
    (Flag::Secrecy, "keep ~1 this|it|that ~2 secret|hidden|confidential ~2 from"),
    (
        Flag::Secrecy,
        "secretly|covertly|stealthily|surreptitiously ~2 send|forward|upload|exfiltrate|post|copy|email|run|execute|add|insert|include|install|disable|approve|delete|transfer|change|modify|read",
    ),
    (
        Flag::Secrecy,
        "silently|quietly ~1 send|forward|upload|exfiltrate|transfer|email|approve|post|append|exec",
    ),
    (
        Flag::Secrecy,
        "user|users|human ~2 must|should|may|can|need ~1 not|never ~2 know|notice|see|find|learn|told|aware|informed",
    ),
    (
        Flag::Secrecy,
        "sage|sag|erzähle|verrate ~3 benutzer|nutzer|anwender|niemandem ~4 nichts|nicht|davon",
    ),
    // Claimed permission.
    (
        Flag::Permission,
        "user|users|owner|admin|administrator|operator|developer ~3 authorized|authorised|preapproved|preauthorized|whitelisted|consented|waived|granted|approved|permits|allows|agreed|trusts|wants|prefers|likes|expects|asked ~12 without ~2 asking|confirmation|confirmations|approval|permission|verification|review|checking|hesitation|question|questions|prompting|warning|warnings",
    ),
    (
        Flag::Permission,
        "user|users|owner|admin|administrator|operator ~2 authorized|authorised|preapproved|preauthorized|consented|waived ~4 all|any|every|everything|you|unrestricted|full|future|agents",
    ),
    (
        Flag::Permission,
        "user|users|owner ~3 pre ~0 approved|authorized|authorised ~2 all|any|every|everything|payments|commands|transfers|purchases",
    ),
    (
        Flag::Permission,
        "user|users|owner|you ~8 skip|bypass|disable|omit|suppress|never|not ~2 confirmation|confirmations|approval|approvals|permission|permissions|consent|safeguards",
    ),
    (
        Flag::Permission,
        "no ~2 confirmation|approval|permission|consent|authorization ~2 needed|required|necessary ~4 from|for|by|to|when ~3 user|any|all|you|this|future|payments|commands|tools|tool",
    ),
    (
        Flag::Permission,
        "trust|trusts|trusted ~2 every|all|any|anything|everything ~4 from|on|at|by ~2 @",
    ),
    (
        Flag::Permission,
        "grant|give|gives|grants ~2 full|unrestricted|unlimited|root|admin ~3 access|rights|control|permissions ~6 to ~3 @",
    ),
    // Another role.
    (
        Flag::Persona,
        "you|youre ~1 now ~3 dan|unrestricted|jailbroken|developer|admin|administrator|root|evil|free|uncensored|unfiltered|different|another|assistant|ai|hacker|in|acting|operating",
    ),
    (
        Flag::Persona,
        "you|youre ~2 no ~0 longer ~2 bound|restricted|limited|claude|assistant|ai|subject|required|obliged",
    ),
    (
        Flag::Persona,
        "act|pretend|behave|roleplay|respond ~2 as|be|like|youre|you ~3 dan|unrestricted|jailbroken|evil|uncensored|unfiltered|hacker|administrator|root|rules|restrictions|human",
    ),
    (
        Flag::Persona,
        "god|dan|jailbreak|unrestricted|sudo|uncensored ~1 mode ~1 on|enabled|activated|active|now|engaged",
    ),
    (
        Flag::Persona,
        "enter|enable|activate|switch ~2 god|dan|jailbreak|unrestricted|uncensored ~0 mode",
    ),
    // Private data to an address.
    (
        Flag::Exfiltration,
        "send|upload|post|forward|exfiltrate|transmit|email|mail|leak|copy|submit|append|attach|push|report|deliver|relay|paste ~6 password|passwords|token|tokens|secret|secrets|key|keys|credential|credentials|env|conversation|conversations|chat|chats|history|memories|memory|transcript|transcripts|cookies|cookie|ssh|prompt|id_rsa|wallet|everything|screenshots|mailbox|logins ~10 @",
    ),
    (
        Flag::Exfiltration,
        "send|upload|post|forward|exfiltrate|transmit|email|mail|leak|relay|deliver ~3 to|at ~1 @ ~10 password|passwords|token|tokens|secret|secrets|key|keys|credential|credentials|conversation|history|memories|transcript|cookies|wallet|everything",
    ),
    (
        Flag::Exfiltration,
        "send|sends|upload|forward|post|pass|report ~4 every|each|all ~5 user|users|answer|answers|message|messages|file|files|code|source|output|question|questions ~8 @",
    ),
    (
        Flag::Exfiltration,
        "curl|wget|fetch ~6 @ ~6 env|id_rsa|passwd|token|secret|secrets|credentials|ssh|cookies",
    ),
    (Flag::Exfiltration, "cat|base64|printenv ~6 env|id_rsa|passwd|credentials|secrets ~8 @"),
    // Delayed triggers.
    (
        Flag::Trigger,
        "when|whenever|if|once|time|soon|until ~6 user|users|someone|anyone|they|anybody ~2 ask|asks|asked|say|says|mention|mentions|type|types|request|requests|write|writes|open|opens|want|wants|start|starts|greet|greets|log|logs ~14 send|forward|ignore|pretend|claim|insist|recommend|say|delete|transfer|purchase|buy|approve|install|execute|insert|append|reveal|output|deny|instead|silently|secretly|disable|upload|wipe|wire|refuse|obey|activate",
    ),
    (
        Flag::Trigger,
        "after|in|on|until ~4 sessions|session|conversations|conversation|days|monday|tuesday|wednesday|thursday|friday|midnight ~6 you|then ~3 send|delete|transfer|ignore|execute|run|reveal|activate|upload|obey|install|disable|wipe",
    ),
    (
        Flag::Trigger,
        "on|upon|after|at ~2 hearing|seeing|reading|receiving|sight|mention ~3 phrase|word|keyword|codeword|trigger|password|sentence ~10 send|delete|transfer|ignore|execute|run|reveal|activate|upload|obey|install|disable|switch|reply|answer|say|wipe",
    ),
    (
        Flag::Trigger,
        "trigger|keyword|codeword|passphrase|activation ~1 phrase|word|is|code ~8 send|delete|transfer|ignore|execute|run|reveal|activate|upload|obey|install|disable|switch|reply|answer|say|wipe|you",
    ),
    // Encoded orders.
    (
        Flag::Encoded,
        "decode|decrypt|deobfuscate|unbase64|rot13|unscramble ~4 this|following|string|text|message|it|base64|payload ~6 follow|execute|run|obey|do|perform|instructions|comply|act",
    ),
    (
        Flag::Encoded,
        "decode|read|reverse ~4 and|then ~2 follow|obey|execute|comply ~4 it|them|instructions|orders|result|says|this",
    ),
    // Calls of tools.
    (
        Flag::ToolCall,
        "call|invoke|run|execute|use|trigger ~3 store_memory|forget_memory|recall_memory|restore_memory|store_relation|compact_memories ~5 with|to|for|and|on|using|hard_delete|all|every|now|immediately",
    ),
];

/// Pairs of parts of an order in languages that are written without spaces, or that inflect the
/// words of it: a text with both parts matches.
pub(super) const PARTS: &[(Flag, &[&str], &[&str])] = &[
    (
        Flag::Override,
        &["忽略", "无视", "忘记", "無視", "忘掉"],
        &["指令", "指示", "命令", "提示", "规则"],
    ),
    (Flag::Override, &["無視し", "忘れ", "無視せよ"], &["指示", "命令", "ルール", "プロンプト"]),
    (Flag::Override, &["무시", "잊어"], &["지시", "명령", "규칙", "프롬프트"]),
    (Flag::Override, &["تجاهل", "انس "], &["التعليمات", "الأوامر", "تعليمات"]),
    (Flag::Override, &["अनदेखा", "भूल जा", "नज़रअंदाज़"], &["निर्देश", "आदेश"]),
    (Flag::Override, &["αγνόησε", "ξέχασε"], &["οδηγίες", "εντολές"]),
    (
        Flag::LastingOrder,
        &["从现在起", "从现在开始", "今后"],
        &["总是", "必须", "始终", "每次", "永远"],
    ),
    (Flag::LastingOrder, &["今後", "これから"], &["常に", "必ず", "いつも"]),
];
