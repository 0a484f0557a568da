/**
 * The content of a contacts message (contract §9), with the provider's field names. Defines schemas only.
 */
import { Schema } from "effect"
import * as PlainText from "../PlainText.ts"

const word = Schema.optionalKey(PlainText.between(0, 1024))

const furtherNames = ["first_name", "last_name", "middle_name", "suffix", "prefix"] as const

const Name = Schema.Struct({
  formatted_name: PlainText.between(1, 1024),
  first_name: word,
  last_name: word,
  middle_name: word,
  suffix: word,
  prefix: word
}).check(
  Schema.makeFilter((name: { readonly [Field in typeof furtherNames[number]]?: string }) =>
    furtherNames.some((field) => name[field] !== undefined && name[field] !== "") ||
    { path: ["first_name"], issue: `one of ${furtherNames.join(", ")} is required beside formatted_name` }
  )
)

const Birthday = Schema.String.check(Schema.isPattern(/^\d{4}-\d\d-\d\d$/u, {
  message: "must be YYYY-MM-DD",
  toJsonSchema: () => ({ pattern: "^\\d{4}-\\d\\d-\\d\\d$", maxLength: 10 })
}))

const many = <S extends Schema.Constraint>(element: S) =>
  Schema.optionalKey(Schema.Array(element).check(Schema.isMaxLength(100)))

const Contact = Schema.Struct({
  name: Name.annotateKey({ description: "`formatted_name` and at least one more field" }),
  birthday: Schema.optionalKey(Birthday).annotateKey({ description: "`YYYY-MM-DD`" }),
  addresses: many(
    Schema.Struct({ street: word, city: word, state: word, zip: word, country: word, country_code: word, type: word })
  ),
  emails: many(Schema.Struct({ email: word, type: word })),
  org: Schema.optionalKey(Schema.Struct({ company: word, department: word, title: word })),
  phones: many(Schema.Struct({ phone: word, wa_id: word, type: word })),
  urls: many(Schema.Struct({ url: word, type: word }))
}).annotate({ identifier: "ContactContent", description: "A contact card." })

/** One to 257 contacts, the provider's limit. */
export const ContactsContent = Schema.Array(Contact).check(
  Schema.isMinLength(1, { message: "must have 1 to 257 elements" }),
  Schema.isMaxLength(257, { message: "must have 1 to 257 elements" })
)
export type ContactsContent = typeof ContactsContent.Type
