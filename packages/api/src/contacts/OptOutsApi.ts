/**
 * Opt-outs (contract §13): `/v1/contacts/{name}/opt-out` for programs, and `/internal/suppressions` and
 * `/internal/settings/opt-out` for people.
 */
import { OptOutWords as Words, PlainText, Suppression } from "@wac/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, apiKey, session } from "../Access.ts"
import { Audited } from "../audit/Audited.ts"
import { ApiKeyAuthentication, SessionAuthentication } from "../Caller.ts"
import { uploadTypes } from "../campaigns/CampaignsApi.ts"
import { BodyIsOptional, TakesFile } from "../EndpointAnnotations.ts"
import { reading, writing } from "../EndpointErrors.ts"
import * as Example from "../Example.ts"
import * as ExampleValues from "../ExampleValues.ts"
import { noQuery } from "../Lists.ts"
import { byName } from "../Parameters.ts"
import { Timestamp } from "../Timestamp.ts"

const source = Schema.NullOr(
  Schema.Literals(Suppression.sources).annotate({
    identifier: "OptOutSource",
    description: "Who opted a customer out."
  })
)

/** For which number a customer is opted out or in. */
export const ChooseOptOut = Schema.Struct({
  phone_number_id: Schema.optionalKey(PlainText.between(1, 64)).annotate({
    description: "The id of a phone number of the workspace; if omitted, all of its numbers"
  })
}).annotate({ identifier: "ChooseOptOut", description: "For which number a customer is opted out or in." }).pipe(
  Example.shown({})
)

/** The state of a customer's opt-out after a choice. */
export const OptOut = Schema.Struct({
  contact: Schema.String.annotate({ description: "The name as it was given" }),
  opted_out: Schema.Boolean,
  opted_out_at: Schema.NullOr(Timestamp).annotateKey({ description: "`null` if the customer is not opted out" }),
  source: source.annotate({ description: "Who opted the customer out; `null` if nobody did" })
}).annotate({ identifier: "OptOut", description: "The state of a customer's opt-out after a choice." }).pipe(
  Example.shown({
    contact: ExampleValues.customer,
    opted_out: true,
    opted_out_at: ExampleValues.times.created,
    source: "api"
  })
)

/** The scope of a key that may opt customers out and in. */
const writers = apiKey("contacts:write")

const one = { params: byName, query: noQuery, payload: ChooseOptOut, success: OptOut, error: writing }

export class OptOutsApi extends HttpApiGroup.make("optOuts").add(
  HttpApiEndpoint.put("set", "/v1/contacts/:name/opt-out", one).annotate(Access, writers)
    .annotate(BodyIsOptional, true).annotateMerge(OpenApi.annotations({
      summary: "Opt a customer out",
      description: "No free-form text and no marketing template is sent to the customer, under any of their names, " +
        "until START from the customer or until they are opted in. The customer need not be known."
    })),
  HttpApiEndpoint.delete("end", "/v1/contacts/:name/opt-out", one).annotate(
    Example.Shown,
    Example.changed(OptOut, { opted_out: false, opted_out_at: null, source: null })
  ).annotate(Access, writers)
    .annotate(BodyIsOptional, true).annotateMerge(OpenApi.annotations({
      summary: "Opt a customer in",
      description: "Ends the opt-out of the customer, whoever set it. Have the customer's consent."
    }))
).middleware(ApiKeyAuthentication).annotateMerge(OpenApi.annotations({
  title: "Opt-outs",
  description: "Customers who do not want messages."
})) {}

const words = Schema.Array(PlainText.between(1, Words.maxLength)).check(Schema.isMaxLength(Words.maxWords))

export const OptOutWords = Schema.Struct({
  stopWords: words.annotate({ description: "Words that opt out, typed or on a button, besides the defaults" }),
  startWords: words.annotate({ description: "Words that opt in, besides the defaults" }),
  removed: words.annotate({ description: "Defaults that do not count" })
}).annotate({
  identifier: "OptOutWords",
  description: "A workspace's changes to the words by which customers opt out."
}).pipe(Example.shown({ stopWords: ["genug"], startWords: [], removed: ["end"] }))

export const OptOutSettings = Schema.Struct({
  ...OptOutWords.fields,
  defaults: Schema.Array(Schema.Struct({
    language: Schema.String.annotate({ description: "ISO 639" }),
    stopWords: Schema.Array(Schema.String),
    startWords: Schema.Array(Schema.String)
  }))
}).annotate({ identifier: "OptOutSettings", description: "The words of a workspace, and the defaults." }).pipe(
  Example.shown({
    ...Example.of(OptOutWords),
    defaults: [{ language: "en", stopWords: ["stop", "unsubscribe"], startWords: ["start"] }]
  })
)

export const ImportedOptOuts = Schema.Struct({
  added: Schema.Int,
  already: Schema.Int.annotate({ description: "Names that were opted out before" }),
  refused: Schema.Array(Schema.Struct({ line: Schema.Int, value: Schema.String, reason: Schema.String }))
}).annotate({ identifier: "ImportedOptOuts", description: "The result of an import of opt-outs." }).pipe(Example.shown({
  added: 1204,
  already: 1,
  refused: [{ line: 7, value: "12", reason: "name must be a phone number" }]
}))

export const Suppressions = Schema.Struct({
  others: Schema.Int.annotate({ description: "How many further names are opted out, of customers who were erased" }),
  names: Schema.Array(Schema.Struct({
    name: Schema.String,
    phoneNumberId: Schema.NullOr(Schema.String).annotate({ description: "`null` for every number of the workspace" }),
    optedOutAt: Timestamp,
    source: source.annotate({ description: "`null` if the customer or the provider opted them out" })
  }))
}).annotate({ identifier: "Suppressions", description: "The names that are opted out." }).pipe(Example.shown({
  others: 2,
  names: [{
    name: ExampleValues.customer,
    phoneNumberId: null,
    optedOutAt: ExampleValues.times.created,
    source: "import"
  }]
}))

/** The workspace's opt-outs as a whole: its words, import and export (contract §13). */
export class SuppressionsApi extends HttpApiGroup.make("suppressions").add(
  HttpApiEndpoint.get("words", "/internal/settings/opt-out", {
    query: noQuery,
    success: OptOutSettings,
    error: reading
  }).annotate(Access, session("admin")).annotateMerge(OpenApi.annotations({
    summary: "Get the words by which customers opt out",
    description: "The workspace's own, and the defaults by language."
  })),
  HttpApiEndpoint.put("setWords", "/internal/settings/opt-out", {
    query: noQuery,
    payload: OptOutWords,
    success: OptOutSettings,
    error: writing
  }).annotate(Access, session("admin")).annotate(Audited, "opt_out_words.change").annotateMerge(OpenApi.annotations({
    summary: "Set the words by which customers opt out",
    description:
      "They are compared without case, and without space, punctuation and symbols around them. A word counts " +
      "if it is the whole message, or the whole text of a button."
  })),
  HttpApiEndpoint.get("export", "/internal/suppressions", {
    query: noQuery,
    success: [Suppressions, Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/csv" }))],
    error: reading
  }).annotate(Access, session("developer")).annotateMerge(OpenApi.annotations({
    summary: "Export opt-outs",
    description: "All names that are opted out and known, and how many others there are. With `Accept: text/csv` the " +
      "response is a file of the names."
  })),
  HttpApiEndpoint.put("import", "/internal/suppressions", {
    query: noQuery,
    payload: HttpApiSchema.StreamUint8Array({ contentType: uploadTypes }),
    success: ImportedOptOuts,
    error: writing
  }).annotate(Access, session("developer")).annotate(Audited, "contact.import_opt_outs")
    .annotate(TakesFile, uploadTypes).annotateMerge(OpenApi.annotations({
      summary: "Import opt-outs",
      description:
        "Opts out every name of a file, for all numbers of the workspace: CSV with a column `name`, `to` or " +
        "`phone`, or with names in its first column; or NDJSON, with a name or an object with a `name` in each line. " +
        "Importing a file again leaves the numbers on which a customer has opted in since, if they stay opted out on others."
    }))
).middleware(SessionAuthentication).annotateMerge(OpenApi.annotations({
  title: "Opt-outs (dashboard)",
  description: "Words by which customers opt out, and lists of opt-outs."
})) {}
