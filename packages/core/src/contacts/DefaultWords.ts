/**
 * The default words by which a customer opts out or in, by language (contract §13). A workspace may remove some. Words
 * with accents are listed without them too, because people leave accents out. Pure data.
 */

/** The words of one language, in any case. */
export interface OfLanguage {
  /** Words that mean stop or unsubscribe, typed or on a button, including the usual texts of WhatsApp's own button. */
  readonly stop: ReadonlyArray<string>
  /**
   * Words that opt out only if the customer typed them. On a button, they refer to an order, an appointment or a form.
   */
  readonly typed?: ReadonlyArray<string>
  readonly start: ReadonlyArray<string>
}

/** The words, by ISO 639 language code. */
export const defaultWords = {
  af: { stop: ["stop", "staak", "teken uit", "stop promosies"], start: ["begin", "teken in"] },
  ar: {
    stop: ["إيقاف", "ايقاف", "توقف", "إلغاء الاشتراك", "الغاء الاشتراك", "إيقاف العروض الترويجية", "إيقاف الترويج"],
    start: ["اشتراك", "اشترك"]
  },
  bg: { stop: ["стоп", "спри", "отпиши", "отписване", "спиране на промоциите"], start: ["старт", "абонирай"] },
  bn: { stop: ["স্টপ", "বন্ধ করুন", "প্রচার বন্ধ করুন"], start: ["স্টার্ট", "চালু"] },
  ca: { stop: ["atura", "atureu", "baixa", "cancel·la la subscripció", "atura les promocions"], start: ["inicia"] },
  cs: { stop: ["stop", "odhlásit", "odhlasit", "zastavit", "zastavit propagaci"], start: ["start", "odebírat"] },
  da: { stop: ["stop", "afmeld", "frameld", "stop kampagner", "stop reklamer"], start: ["start"] },
  de: {
    stop: [
      "stopp",
      "stop",
      "abmelden",
      "abbestellen",
      "austragen",
      "werbung stoppen",
      "werbung abbestellen",
      "angebote stoppen"
    ],
    start: ["start", "abonnieren"]
  },
  el: {
    stop: ["στοπ", "διακοπή", "διακοπη", "διαγραφή", "διακοπή προωθητικών ενεργειών"],
    start: ["εγγραφή", "εγγραφη"]
  },
  en: {
    stop: [
      "stop",
      "stopall",
      "stop all",
      "unsubscribe",
      "opt out",
      "optout",
      "opt-out",
      "stop promotions",
      "stop marketing"
    ],
    typed: ["cancel", "end", "quit"],
    start: ["start", "unstop", "subscribe", "resubscribe", "opt in", "opt-in"]
  },
  es: {
    stop: [
      "baja",
      "darme de baja",
      "parar",
      "detener",
      "detener promociones",
      "cancelar suscripción",
      "cancelar suscripcion"
    ],
    start: ["darme de alta", "suscribirme"]
  },
  et: { stop: ["stopp", "peata", "peata reklaamid"], start: ["start", "alusta"] },
  fa: { stop: ["توقف", "لغو اشتراک", "لغو عضویت", "توقف تبلیغات"], start: ["شروع"] },
  fi: { stop: ["stop", "lopeta", "lopettakaa", "lopeta mainokset", "lopeta kampanjat"], start: ["aloita"] },
  fil: { stop: ["itigil", "ihinto", "itigil ang mga promosyon"], start: ["simulan"] },
  fr: {
    stop: [
      "arrêt",
      "arret",
      "arrêter",
      "arreter",
      "stop",
      "désabonner",
      "desabonner",
      "se désabonner",
      "me désabonner",
      "désinscription",
      "arrêter les promotions",
      "arrêter les promos"
    ],
    start: ["s'abonner", "abonner", "m'abonner", "réabonner"]
  },
  gu: { stop: ["બંધ કરો", "પ્રમોશન બંધ કરો"], start: ["શરૂ", "ચાલુ"] },
  he: { stop: ["הסר", "הסרה", "עצור", "תפסיקו", "הפסקת מבצעים"], start: ["התחל"] },
  hi: { stop: ["रोकें", "रोको", "बंद करें", "बंद करो", "सदस्यता छोड़ें", "प्रमोशन रोकें"], start: ["शुरू", "शुरू करें", "चालू"] },
  hr: { stop: ["stop", "prekini", "odjava", "odjavi", "zaustavi promocije"], start: ["start", "pretplati me"] },
  hu: {
    stop: ["stop", "állj", "leiratkozás", "leiratkozas", "leiratkozom", "promóciók leállítása"],
    start: ["start", "feliratkozás", "feliratkozom"]
  },
  id: {
    stop: ["berhenti", "stop", "henti", "berhenti berlangganan", "hentikan promosi"],
    start: ["mulai", "berlangganan"]
  },
  it: {
    stop: [
      "stop",
      "ferma",
      "basta",
      "disiscrivimi",
      "cancellami",
      "annulla iscrizione",
      "interrompi promozioni",
      "blocca promozioni"
    ],
    start: ["iscrivimi", "inizia"]
  },
  ja: { stop: ["停止", "配信停止", "ストップ", "登録解除", "プロモーションを停止"], start: ["配信再開"] },
  kn: { stop: ["ನಿಲ್ಲಿಸಿ", "ನಿಲ್ಲಿಸು", "ಪ್ರಚಾರಗಳನ್ನು ನಿಲ್ಲಿಸಿ"], start: ["ಪ್ರಾರಂಭಿಸಿ"] },
  ko: {
    stop: ["중지", "중단", "정지", "수신거부", "수신 거부", "구독취소", "구독 취소", "프로모션 중지"],
    start: ["수신동의", "수신 동의", "구독"]
  },
  lt: { stop: ["stop", "stabdyti", "stabdyti reklamą"], start: ["start", "prenumeruoti"] },
  lv: { stop: ["stop", "apturēt", "atrakstīties", "apturēt reklāmas"], start: ["start", "sākt"] },
  mr: { stop: ["थांबवा", "थांबा", "बंद करा", "जाहिराती थांबवा"], start: ["सुरू", "सुरू करा"] },
  ms: { stop: ["berhenti", "henti", "hentikan", "hentikan promosi"], start: ["mula", "langgan"] },
  nb: { stop: ["stopp", "meld av", "avmeld", "stopp kampanjer", "stopp reklame"], start: ["start"] },
  nl: {
    stop: ["stop", "stoppen", "afmelden", "uitschrijven", "stop promoties", "promoties stoppen"],
    start: ["start", "abonneren"]
  },
  pl: { stop: ["stop", "wypisz", "wypisz mnie", "zatrzymaj", "zatrzymaj promocje"], start: ["start", "subskrybuj"] },
  pt: {
    stop: [
      "parar",
      "pare",
      "sair",
      "descadastrar",
      "cancelar inscrição",
      "cancelar inscricao",
      "parar promoções",
      "parar promocoes",
      "interromper promoções",
      "bloquear promoções"
    ],
    start: ["reinscrever"]
  },
  ro: {
    stop: ["stop", "opriți", "opriti", "oprește", "opreste", "dezabonare", "dezabonați", "oprește promoțiile"],
    start: ["start", "abonare"]
  },
  ru: {
    stop: ["стоп", "отписаться", "отписка", "остановить", "остановить рекламу", "остановить рассылку"],
    start: ["старт", "подписаться"]
  },
  sk: { stop: ["stop", "odhlásiť", "odhlasit", "zastaviť", "zastaviť propagáciu"], start: ["start", "odoberať"] },
  sl: { stop: ["stop", "ustavi", "odjava", "ustavi promocije"], start: ["start", "začni"] },
  sq: { stop: ["ndalo", "ndal", "çregjistrohu", "ndalo promovimet"], start: ["fillo"] },
  sr: {
    stop: ["стоп", "stop", "прекини", "prekini", "одјава", "odjava", "заустави промоције"],
    start: ["старт", "start"]
  },
  sv: {
    stop: ["stopp", "stop", "avregistrera", "avanmäl", "stoppa kampanjer", "stoppa reklam"],
    start: ["start", "starta"]
  },
  sw: { stop: ["simama", "sitisha", "jiondoe", "acha matangazo"], start: ["anza"] },
  ta: { stop: ["நிறுத்து", "நிறுத்தவும்", "விளம்பரங்களை நிறுத்து"], start: ["தொடங்கு"] },
  te: { stop: ["ఆపు", "ఆపండి", "ప్రమోషన్లను ఆపు"], start: ["ప్రారంభించు"] },
  th: { stop: ["หยุด", "ยกเลิกการสมัคร", "เลิกรับข่าวสาร", "หยุดโปรโมชั่น"], start: ["เริ่ม"] },
  tr: {
    stop: [
      "çık",
      "cik",
      "dur",
      "durdur",
      "üyelikten çık",
      "abonelikten çık",
      "promosyonları durdur",
      "tanıtımları durdur"
    ],
    start: ["başla", "basla", "abone ol"]
  },
  uk: { stop: ["стоп", "відписатися", "відписка", "зупинити", "зупинити рекламу"], start: ["старт", "підписатися"] },
  ur: { stop: ["روکیں", "بند کریں", "ان سبسکرائب", "پروموشنز بند کریں"], start: ["شروع", "شروع کریں"] },
  vi: { stop: ["dừng", "ngừng", "hủy đăng ký", "huy dang ky", "dừng khuyến mãi"], start: ["bắt đầu"] },
  zh: {
    stop: ["停止", "退订", "退訂", "取消订阅", "取消訂閱", "停止推广", "停止促销", "停止推廣"],
    start: ["订阅", "訂閱"]
  }
} as const satisfies Readonly<Record<string, OfLanguage>>
