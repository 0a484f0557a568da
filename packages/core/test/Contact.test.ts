import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { preferenceOf } from "../src/Contact.ts"
import { checks } from "./checks.ts"

const words = {
  opt_out: ["STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT"],
  opt_in: ["START", "UNSTOP"]
} as const

describe("what a customer's words say of being written to", () => {
  for (const preference of ["opt_out", "opt_in"] as const) {
    it.each(words[preference])(`%s: ${preference}, in any case, with white space around it`, (word) => {
      const capitalised = word.charAt(0) + word.slice(1).toLowerCase()
      for (
        const text of [word, word.toLowerCase(), capitalised, ` ${word}`, `${word}\n`, `\t${word.toLowerCase()} \r\n`]
      ) {
        assert.strictEqual(preferenceOf(text), preference, JSON.stringify(text))
      }
    })
  }

  it.each([
    "",
    " ",
    "STOP.",
    "STOP!",
    "\"STOP\"",
    "STOP STOP",
    "please stop",
    "Stop sending me this",
    "don't stop",
    "S T O P",
    "STOP ALL",
    "STOP-ALL",
    "STOPP",
    "NONSTOP",
    "unsubscribe me",
    "the end",
    "ended",
    "restart",
    "start now",
    "YES",
    "HELP",
    "PARAR",
    "👋",
    "ＳＴＯＰ",
    "toString",
    "__proto__"
  ])("%j: nothing", (text) => {
    assert.isUndefined(preferenceOf(text))
  })

  it.prop("only exactly a word counts", {
    before: Schema.String,
    word: Schema.Literals([...words.opt_out, ...words.opt_in]),
    after: Schema.String
  }, (_) => {
    const text = _.before + _.word + _.after
    const all: ReadonlyArray<string> = [...words.opt_out, ...words.opt_in]
    assert.strictEqual(preferenceOf(text) !== undefined, all.includes(text.trim().toUpperCase()))
  }, checks)
})
