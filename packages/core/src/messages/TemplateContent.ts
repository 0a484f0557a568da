/**
 * The content of a template message (specification §4, contract §9). Defines schemas only.
 */
import { DateTime, Option, Schema } from "effect"
import { PlainJsonObject } from "../PlainJson.ts"
import * as PlainText from "../PlainText.ts"
import { Language } from "../templates/Template.ts"
import * as FileContent from "./FileContent.ts"
import { LocationContent } from "./LocationContent.ts"

/** A text value, at most as long as the longest body of a template. `TemplateValues` has the provider's own rules. */
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

/** A value for one placeholder. */
export const TemplateValue = Schema.Union([Word, Currency, Moment]).annotate({
  identifier: "TemplateValue",
  description: "The value of a placeholder: non-empty text, an amount, or a date and time."
})
export type TemplateValue = typeof TemplateValue.Type

/** The values of a body's placeholders, in order or by name. */
export const BodyParams = Schema.Union([
  Schema.Array(TemplateValue).check(Schema.isMaxLength(256)),
  Schema.Record(PlainText.between(1, 64), TemplateValue)
]).annotate({
  identifier: "BodyParams",
  description: "The values of a body's placeholders: in order, or by name if the placeholders have names."
})
export type BodyParams = typeof BodyParams.Type

/** Requires exactly one of these fields. */
const exactlyOne = (names: ReadonlyArray<string>) =>
  Schema.makeFilter((fields: object) => {
    const given = Object.keys(fields).filter((name) => names.includes(name))
    return given.length === 0
      ? `one of ${names.join(", ")} is required`
      : given.length === 1 || { path: [given[1]!], issue: `only one of ${names.join(", ")} may be given` }
  })

/** The value of a template's header: one of these fields. */
export const TemplateHeader = Schema.Struct({
  text: Schema.optionalKey(Word),
  image: Schema.optionalKey(FileContent.Plain),
  video: Schema.optionalKey(FileContent.Plain),
  document: Schema.optionalKey(FileContent.HeaderDocument),
  location: Schema.optionalKey(LocationContent)
}).check(exactlyOne(["text", "image", "video", "document", "location"])).annotate({
  identifier: "TemplateHeader",
  description: "The value of the template's header: exactly one of these, as the template requires."
})
export type TemplateHeader = typeof TemplateHeader.Type

/** The value of one of a template's buttons. */
export const TemplateButton = Schema.Struct({
  index: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 })).annotateKey({ description: "Counted from 0" }),
  urlSuffix: Schema.optionalKey(PlainText.between(1, 2000)).annotateKey({
    description: "The part that is appended to the button's URL"
  }),
  payload: Schema.optionalKey(PlainText.between(1, 256)).annotateKey({
    description: "The payload that a tap on the quick reply returns"
  }),
  code: Schema.optionalKey(PlainText.between(1, 1024)).annotateKey({
    description: "The code to copy; the template says how long it may be"
  }),
  flowToken: Schema.optionalKey(PlainText.between(1, 1024)),
  flowData: Schema.optionalKey(PlainJsonObject).annotateKey({ description: "Only with `flowToken`" }),
  thumbnailProductRetailerId: Schema.optionalKey(PlainText.between(1, 256)).annotateKey({
    description: "The product whose image is shown"
  })
}).check(
  exactlyOne(["urlSuffix", "payload", "code", "flowToken", "thumbnailProductRetailerId"]),
  Schema.makeFilter(({ flowData, flowToken }: { readonly flowData?: object; readonly flowToken?: string }) =>
    flowData === undefined || flowToken !== undefined ||
    { path: ["flowData"], issue: "may be given only with flowToken" }
  )
).annotate({
  identifier: "TemplateButton",
  description: "The value of the template's button at `index`: exactly one of these, as the button's type requires."
})
export type TemplateButton = typeof TemplateButton.Type

/** The values of one card of a template's carousel. */
export const TemplateCard = Schema.Struct({
  header: Schema.optionalKey(TemplateHeader),
  bodyParams: Schema.optionalKey(BodyParams),
  buttons: Schema.optionalKey(Schema.Array(TemplateButton).check(Schema.isMaxLength(10)))
}).annotate({
  identifier: "TemplateCard",
  description: "The values of one card of a carousel; the cards are in the template's order."
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

/** The template that a message names, and the values that fill it. */
export const TemplateContent = Schema.Struct({
  name: PlainText.between(1, 512),
  language: Language.annotateKey({ description: "`<ll>_<CC>` or `<ll>`; matched exactly" }),
  bodyParams: Schema.optionalKey(BodyParams).annotateKey({
    description: "One value per placeholder of the body; none may be empty"
  }),
  header: Schema.optionalKey(TemplateHeader),
  buttons: Schema.optionalKey(Schema.Array(TemplateButton).check(Schema.isMaxLength(10))),
  cards: Schema.optionalKey(Schema.Array(TemplateCard).check(Schema.isMaxLength(10))),
  limitedTimeOffer: Schema.optionalKey(Schema.Struct({ expiresAt: Time })).annotateKey({
    description: "When the offer ends, in ISO 8601"
  })
}).annotate({
  identifier: "TemplateContent",
  description: "An approved template by its name and language, with the values to fill in."
})
export type TemplateContent = typeof TemplateContent.Type
