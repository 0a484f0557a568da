/**
 * `/v1/templates` (specification §4, contract §7).
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Access, apiKey } from "./Access.ts"
import { ApiKeyAuthentication } from "./Caller.ts"
import { reading } from "./ErrorBody.ts"
import { listOf, pageQuery } from "./Lists.ts"
import { Timestamp } from "./Timestamp.ts"

/** A template of any status. `variables` are the body's placeholders, in the order in which `bodyParams` fills them. */
export const Template = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  language: Schema.String,
  category: Schema.String,
  status: Schema.String,
  parameter_format: Schema.Literals(["positional", "named"]),
  components: Schema.Array(Schema.Json),
  variables: Schema.Array(Schema.String),
  quality: Schema.NullOr(Schema.String),
  rejection_reason: Schema.NullOr(Schema.String),
  provider_template_id: Schema.String,
  synced_at: Timestamp
}).annotate({ identifier: "Template" })

const word = Schema.optionalKey(Schema.String)

export class TemplatesApi extends HttpApiGroup.make("templates").add(
  HttpApiEndpoint.get("list", "/v1/templates", {
    query: { status: word, category: word, language: word, name: word, ...pageQuery },
    success: listOf(Template),
    error: reading
  }).annotate(Access, apiKey("messages:send")).annotateMerge(OpenApi.annotations({
    summary: "List templates",
    description: "Templates of every status, newest first."
  }))
).middleware(ApiKeyAuthentication).annotateMerge(OpenApi.annotations({ title: "Templates" })) {}
