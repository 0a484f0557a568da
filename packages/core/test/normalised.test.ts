/**
 * Values that are stored in another form than they were given in: their limits apply to the stored form, so that what a
 * read returns can be written again, unchanged.
 */
import { assert, it } from "@effect/vitest"
import { Option, Schema } from "effect"
import * as CustomerNames from "../src/contacts/CustomerNames.ts"
import * as WrittenName from "../src/contacts/WrittenName.ts"
import * as Media from "../src/media/Media.ts"
import * as EmailAddress from "../src/people/EmailAddress.ts"
import * as PlainText from "../src/PlainText.ts"
import * as Url from "../src/Url.ts"
import { parseUrl } from "../src/webhooks/Webhook.ts"

/** What is stored of a value; `undefined` if it is refused. */
const stored: { readonly [field: string]: (given: string) => string | undefined } = {
  "a receiver's URL": (given) => {
    const url = parseUrl(given, { allowInsecure: false })
    return url instanceof URL ? url.href : undefined
  },
  "a name": (given) => Option.getOrUndefined(Schema.decodeUnknownOption(PlainText.trimmed(100))(given)),
  "an e-mail address": EmailAddress.normalize,
  "the URL of alerts": (given) => {
    const url = parseUrl(given, { allowInsecure: true })
    return url instanceof URL ? url.href : undefined
  },
  "a file's name": (given) => Media.nameOf(given) ?? undefined,
  "a number as people write it": (given) => {
    const read = WrittenName.read(given, "DE")
    return "to" in read ? read.to : undefined
  },
  "a customer's name": (given) => CustomerNames.isName(given) ? CustomerNames.keyOf(given) : undefined
}

/** Texts that grow or shrink when they are normalised, around the limits. */
const texts: ReadonlyArray<(part: string, count: number) => string> = [
  (part, count) => `https://receiver.example/${part.repeat(count)}`,
  (part, count) => `https://${part}.example/${"./".repeat(count)}`,
  (part, count) => `${" ".repeat(count)}${part}${"\u3000".repeat(count)}`,
  (part, count) => `${part.repeat(count)}@Example.com`,
  (part, count) => `${part.repeat(count)}.pdf`,
  (part, count) => `a${part.repeat(count)}.. . b`,
  (part, count) => `.${part} . .a${"\u200d".repeat(count)}${part}/.${part}e\u200d\u0301..`,
  (part, count) => `+49${part}(0)${" -/.".repeat(count)}170${part}1234567`,
  (part, count) => `0170${part.repeat(count)}1234567`
]

const parts = ["", ".", "7", "٣", "a", "é", "İ", "ß", "👋", "%", " ", "\u0301", "ﬃ", "Å"]

it.each(Object.entries(stored))("%s that was accepted is accepted again as it is stored", (_, store) => {
  for (const text of texts) {
    for (const part of parts) {
      for (const count of [1, 30, 99, 100, 101, 250, 400, 700, 1000, 2023, 2048]) {
        const first = store(text(part, count))
        if (first !== undefined) assert.strictEqual(store(first), first)
      }
    }
  }
})

it("a receiver's URL has its limit after it is normalised", () => {
  const store = stored["a receiver's URL"]!
  assert.isUndefined(store(`https://receiver.example/${"é".repeat(700)}`))
  assert.strictEqual(store(`https://receiver.example/${"./".repeat(Url.maxLength)}`), "https://receiver.example/")
})
