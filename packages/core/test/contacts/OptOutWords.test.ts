import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { defaults, fold, noSettings, preferenceOf, refusal, type Settings } from "../../src/contacts/OptOutWords.ts"
import { checks } from "../checks.ts"

const typed = (text: string, settings: Settings = noSettings) => preferenceOf(settings, text, "typed")
const pressed = (label: string, settings: Settings = noSettings) => preferenceOf(settings, label, "button")

const contract = ["STOP", "parar", "sair", "baja", "arrêt", "stopp", "ÇIK", "berhenti"]
const english = ["STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT"]

describe("the words that opt out", () => {
  it("at least 25 languages are listed, each with words to stop and to start", () => {
    assert.isAtLeast(defaults.length, 25)
    for (const { language, startWords, stopWords } of defaults) {
      assert.isNotEmpty(stopWords, language)
      assert.isNotEmpty(startWords, language)
    }
  })

  it("no default opts out in one language and in in another", () => {
    const stopping = new Set(defaults.flatMap(({ stopWords }) => stopWords.map(fold)))
    assert.deepStrictEqual(
      defaults.flatMap(({ startWords }) => startWords.filter((word) => stopping.has(fold(word)))),
      []
    )
  })

  it.each([...contract, ...english])(
    "%s opts out in any case, with space, punctuation and symbols around it",
    (word) => {
      for (
        const text of [
          word,
          word.toLowerCase(),
          word.toUpperCase(),
          `${word}.`,
          `"${word}"`,
          `¡${word}!`,
          `  ${word}\r\n`
        ]
      ) assert.strictEqual(typed(text), "opt_out", text)
    }
  )

  it.each([
    "Stop.",
    "STOP!!!",
    "STOP ✋",
    "🛑 stop 🛑️",
    "ＳＴＯＰ",
    "stop…",
    "«Arrêt»",
    "ARRÊT",
    "PARAR",
    "SAIR",
    "çık",
    "CIK",
    "👋🏽STOP",
    "STOP\u200B",
    "\u200FSTOP",
    "STOP ✔️",
    "停止。",
    "إيقاف"
  ])(
    "%j opts out",
    (text) => {
      assert.strictEqual(typed(text), "opt_out")
    }
  )

  it("every default counts, typed", () => {
    for (const { startWords, stopWords } of defaults) {
      for (const word of stopWords) assert.strictEqual(typed(word.toUpperCase()), "opt_out", word)
      for (const word of startWords) assert.strictEqual(typed(word.toUpperCase()), "opt_in", word)
    }
  })

  it.each([
    "",
    " ",
    "!",
    "STOP STOP",
    "please stop",
    "Stop sending me this",
    "don't stop",
    "S T O P",
    "STOP-ALL NOW",
    "NONSTOP",
    "unsubscribe me please",
    "the end",
    "ended",
    "restart",
    "start now",
    "YES",
    "HELP",
    "👋",
    "toString",
    "__proto__",
    "stop ".repeat(100),
    "cancelar",
    "annuler",
    "abbrechen",
    "fin",
    "Ende",
    "alta",
    "acha"
  ])(
    "%j opts nobody out or in",
    (text) => {
      assert.isUndefined(typed(text))
    }
  )

  it.prop("a digit beside a word makes it another message", { before: Schema.String, after: Schema.String }, (_) => {
    assert.isUndefined(typed(`${_.before}7STOP${_.after}`))
    assert.isUndefined(typed(`${_.before}STOP 7${_.after}`))
  }, checks)
})

describe("the words on a button", () => {
  it.each([
    "STOP",
    "Stop",
    "stopall",
    "Unsubscribe",
    "Stop promotions",
    " STOP PROMOTIONS ",
    "Parar",
    "Detener promociones"
  ])(
    "%j opts out",
    (label) => {
      assert.strictEqual(pressed(label), "opt_out")
    }
  )
  it.each([
    "Cancel",
    "END",
    "Quit",
    "Cancel order",
    "Stop order",
    "Yes",
    "",
    "toString",
    "Cancelar",
    "Ende",
    "Annuler"
  ])(
    "%j speaks of something else",
    (label) => {
      assert.isUndefined(pressed(label))
    }
  )
})

describe("the words of a workspace", () => {
  const own: Settings = { stopWords: ["Genug!"], startWords: ["Weiter"], removed: ["END", "Sair"] }

  it("count beside the defaults, on buttons too", () => {
    assert.deepStrictEqual(["genug", "WEITER", "stop"].map((text) => typed(text, own)), [
      "opt_out",
      "opt_in",
      "opt_out"
    ])
    assert.deepStrictEqual(["genug.", "weiter"].map((text) => pressed(text, own)), ["opt_out", "opt_in"])
  })

  it("take defaults away", () => {
    assert.deepStrictEqual(["end", "SAIR", "quit"].map((text) => typed(text, own)), [undefined, undefined, "opt_out"])
  })

  it("a workspace's words must contain a letter or digit, and no word may both stop and start", () => {
    assert.strictEqual(refusal({ ...own, removed: ["x", "!!"] })?.param, "removed[1]")
    assert.strictEqual(refusal({ ...own, startWords: ["a", " GENUG "] })?.param, "startWords[1]")
    assert.isUndefined(refusal(own))
  })
})
