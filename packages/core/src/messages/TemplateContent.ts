/**
 * The content of a template message (specification §4, contract §9). Defines schemas only.
 */
import { DateTime, Option, Schema } from "effect"
import { PlainJsonObject } from "../PlainJson.ts"
import * as PlainText from "../PlainText.ts"
import { Language } from "../templates/Template.ts"
import * as FileContent from "./FileContent.ts"
import { LocationContent } from "./LocationContent.ts"

/** As long as the longest body of a template; `TemplateValues` has the provider's rules for what is in its place. */
const Word = PlainText.between(1, 32_768)

/** An amount that the provider formats for the customer's language; `amount_1000` is the amount times 1,000. */
const Currency = Schema.Struct({
  currency: Schema.Struct({
    fallback_value: Word,
    code: Schema.String.check(
      Schema.isPattern(/^[A-Z]{3}$/u, {
        message: "must be an ISO 4217 currency code",
        toJsonSchema: () => ({ pattern: "^[A-Z]{3}$", maxLength: 3 })
      })
    ),
    amount_1000: Schema.Int
  })
})

/** A date and time. The provider shows `fallback_value`. */
const Moment = Schema.Struct({
  date_time: Schema.Struct({
    fallback_value: Word,
    calendar: Schema.optionalKey(Word),
    day_of_week: Schema.optionalKey(Schema.Int),
    year: Schema.optionalKey(Schema.Int),
    month: Schema.optionalKey(Schema.Int),
    day_of_month: Schema.optionalKey(Schema.Int),
    hour: Schema.optionalKey(Schema.Int),
    minute: Schema.optionalKey(Schema.Int)
  })
})

/** The value of a placeholder: non-empty text, an amount, or a date and time. */
export const TemplateValue = Schema.Union([Word, Currency, Moment])
export type TemplateValue = typeof TemplateValue.Type

/** The values of a body's placeholders: in order, or by name if the placeholders have names. */
export const BodyParams = Schema.Union([
  Schema.Array(TemplateValue).check(Schema.isMaxLength(256)),
  Schema.Record(PlainText.between(1, 64), TemplateValue)
])
export type BodyParams = typeof BodyParams.Type

/** Requires exactly one of these fields. */
const exactlyOne = (names: ReadonlyArray<string>) =>
  Schema.makeFilter((fields: object) => {
    const given = Object.keys(fields).filter((name) => names.includes(name))
    return given.length === 0
      ? `one of ${names.join(", ")} is required`
      : given.length === 1 || { path: [given[1]!], issue: `only one of ${names.join(", ")} may be given` }
  })

/** The values of a header. */
export const TemplateHeader = Schema.Struct({
  text: Schema.optionalKey(Word),
  image: Schema.optionalKey(FileContent.Plain),
  video: Schema.optionalKey(FileContent.Plain),
  document: Schema.optionalKey(FileContent.HeaderDocument),
  location: Schema.optionalKey(LocationContent)
}).check(exactlyOne(["text", "image", "video", "document", "location"]))
export type TemplateHeader = typeof TemplateHeader.Type

/** The values of the button at an index of the template. */
export const TemplateButton = Schema.Struct({
  /** Zero-based. */
  index: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 })),
  /** Appended to the button's URL. */
  urlSuffix: Schema.optionalKey(PlainText.between(1, 2000)),
  /** Returned when the customer taps the quick reply. */
  payload: Schema.optionalKey(PlainText.between(1, 256)),
  /** The code to copy; the template says how long it may be. */
  code: Schema.optionalKey(PlainText.between(1, 1024)),
  flowToken: Schema.optionalKey(PlainText.between(1, 1024)),
  flowData: Schema.optionalKey(PlainJsonObject),
  /** The product whose image is shown. */
  thumbnailProductRetailerId: Schema.optionalKey(PlainText.between(1, 256))
}).check(
  exactlyOne(["urlSuffix", "payload", "code", "flowToken", "thumbnailProductRetailerId"]),
  Schema.makeFilter(({ flowData, flowToken }: { readonly flowData?: object; readonly flowToken?: string }) =>
    flowData === undefined || flowToken !== undefined ||
    { path: ["flowData"], issue: "may be given only with flowToken" }
  )
)
export type TemplateButton = typeof TemplateButton.Type

/** The values of the card at its index of a carousel. */
export const TemplateCard = Schema.Struct({
  header: Schema.optionalKey(TemplateHeader),
  bodyParams: Schema.optionalKey(BodyParams),
  buttons: Schema.optionalKey(Schema.Array(TemplateButton).check(Schema.isMaxLength(10)))
})
export type TemplateCard = typeof TemplateCard.Type

const time = "^\\d{4}-\\d\\d-\\d\\dT[0-9:.]{5,20}(?:Z|[+-]\\d\\d:\\d\\d)$"
const timePattern = new RegExp(time, "u")

const Time = Schema.String.check(
  Schema.makeFilter(
    (text: string) =>
      timePattern.test(text) && Option.isSome(DateTime.make(text)) ||
      "must be a time in ISO 8601, such as 2026-01-02T03:04:05Z",
    { toJsonSchema: () => ({ pattern: time, maxLength: 40 }) }
  )
)

/** The name and language of an approved template, with the values to fill in. */
export const TemplateContent = Schema.Struct({
  name: PlainText.between(1, 512),
  language: Language,
  bodyParams: Schema.optionalKey(BodyParams),
  header: Schema.optionalKey(TemplateHeader),
  buttons: Schema.optionalKey(Schema.Array(TemplateButton).check(Schema.isMaxLength(10))),
  cards: Schema.optionalKey(Schema.Array(TemplateCard).check(Schema.isMaxLength(10))),
  /** When the offer ends. */
  limitedTimeOffer: Schema.optionalKey(Schema.Struct({ expiresAt: Time }))
})
export type TemplateContent = typeof TemplateContent.Type
