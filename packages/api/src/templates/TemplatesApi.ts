/**
 * `/v1/templates` and `/internal/templates` (specification §4, contract §6 and §7): the approved texts that a workspace
 * can send at any time.
 */
import { PlainText, Template as Core, TemplateDraft, TemplateNames } from "@wac/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Access, apiKey, session } from "../Access.ts"
import { Audited } from "../audit/Audited.ts"
import { ApiKeyAuthentication, SessionAuthentication } from "../Caller.ts"
import { IsPaged, NeedsIdempotencyKey, providerRefusals, ProviderRefuses } from "../EndpointAnnotations.ts"
import { reading, readingProvider, writingProvider } from "../EndpointErrors.ts"
import * as Example from "../Example.ts"
import * as ExampleValues from "../ExampleValues.ts"
import { internalListOf, listOf, noQuery, pageQuery } from "../Lists.ts"
import { byId, idempotencyKey } from "../Parameters.ts"
import { Timestamp } from "../Timestamp.ts"

/** The fields of an example whose names are the same under `/v1` and `/internal`. */
const inEither = {
  id: "tpl_01K8ZPZ1P6E8F0G4H5J7K9M1TV",
  name: ExampleValues.template.name,
  language: ExampleValues.template.language,
  category: "utility",
  status: "approved",
  components: [{ type: "BODY", text: "Hi {{1}}, your order {{2}} is on its way." }],
  variables: ["1", "2"],
  quality: "green"
}

/** A template of any status. */
export const Template = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  language: Schema.String,
  category: Schema.String,
  status: Schema.String,
  parameter_format: Core.ParameterFormat,
  components: Schema.Array(Schema.Json),
  variables: Schema.Array(Schema.String).annotate({
    description: "Placeholders of the body, in the order in which `bodyParams` fills them"
  }),
  quality: Schema.NullOr(Schema.String),
  rejection_reason: Schema.NullOr(Schema.String),
  provider_template_id: Schema.String,
  synced_at: Timestamp
}).annotate({ identifier: "Template", description: "A template of any status (contract §7)." }).pipe(Example.shown({
  ...inEither,
  parameter_format: "positional",
  rejection_reason: null,
  provider_template_id: "1407680676729941",
  synced_at: ExampleValues.times.start
}))

export const ShownTemplate = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  language: Schema.String,
  category: Schema.String.annotate({ description: "`marketing`, `utility` or `authentication`" }),
  status: Schema.String.annotate({
    description: "`approved`, `pending`, `rejected`, `paused`, `disabled`, or another word of the provider"
  }),
  parameterFormat: Core.ParameterFormat,
  components: Schema.Array(Schema.Json).annotate({ description: "As the provider has them" }),
  variables: Schema.Array(Schema.String).annotate({
    description: "Placeholders of the body, in the order in which `bodyParams` fills them"
  }),
  unfillable: Schema.NullOr(Schema.String).annotate({
    description: "Why `bodyParams` alone cannot fill the template, for people; `null` if they can"
  }),
  quality: Schema.NullOr(Schema.String),
  rejectionReason: Schema.NullOr(Schema.String),
  providerAccountId: Schema.String.annotate({ description: "The account that owns it: only its numbers can send it" }),
  providerTemplateId: Schema.String,
  syncedAt: Timestamp
}).annotate({ identifier: "TemplateDetail", embedded: "Template", description: "A template of any status." }).pipe(
  Example.shown({
    ...inEither,
    parameterFormat: "positional",
    unfillable: null,
    rejectionReason: null,
    providerAccountId: "102290129340398",
    providerTemplateId: "1407680676729941",
    syncedAt: ExampleValues.times.start
  })
)

export const Synced = Schema.Struct({ count: Schema.Int, syncedAt: Timestamp }).annotate({
  identifier: "Synced",
  description: "The result of a sync: how many templates the provider has, and when the listing began."
}).pipe(Example.shown({ count: 12, syncedAt: ExampleValues.times.recorded }))

export const CreateTemplate = Schema.Struct({
  ...TemplateDraft.TemplateDraft.fields,
  phoneNumberId: Schema.optionalKey(PlainText.between(1, 64)).annotateKey({
    description: "The number in whose account it is created: the default number, if omitted"
  })
}).annotate({ identifier: "CreateTemplate", embedded: "NewTemplate", description: "A template to create." }).pipe(
  Example.shown({
    name: ExampleValues.template.name,
    language: ExampleValues.template.language,
    category: "utility",
    components: [
      { type: "BODY", text: "Your order is on its way." },
      { type: "BUTTONS", buttons: [{ type: "QUICK_REPLY", text: "Thanks" }] }
    ]
  })
)

export const EditTemplate = TemplateDraft.TemplateEdit.annotate({
  identifier: "EditTemplate",
  embedded: "TemplateEdit",
  description: "A change of a template: at least one field."
}).pipe(Example.shown({ components: [{ type: "BODY", text: "Your order is on its way." }] }))

const one = { params: byId, query: noQuery }

const word = Schema.optionalKey(PlainText.PlainText)

/** The example of a template that the provider has not reviewed yet. */
const unreviewed = Example.changed(ShownTemplate, {
  status: "pending",
  components: [{ type: "BODY", text: "Your order is on its way." }],
  variables: [],
  quality: null
})

/** The filters of the list, which match exactly. */
export const filter = { status: word, category: word, language: word, name: word }

const query = Schema.Struct({ ...filter, ...pageQuery }).annotate({
  identifier: "TemplateQuery",
  embedded: "TemplateFilter",
  description: "The filters of the list of templates, which match exactly."
})

/** A searched part of a name may be as long as a name. */
const shownQuery = Schema.Struct({
  ...filter,
  nameContains: Schema.optionalKey(PlainText.between(1, TemplateNames.name.maxLength)).annotateKey({
    description: "A part of the name"
  }),
  ...pageQuery
}).annotate({
  identifier: "ShownTemplateQuery",
  description: "The filters of the dashboard's list of templates, which match exactly, except `nameContains`."
})

export class TemplatesApi extends HttpApiGroup.make("templates").add(
  HttpApiEndpoint.get("list", "/v1/templates", {
    query,
    success: listOf(Template),
    error: reading
  }).annotate(Access, apiKey("messages:send")).annotate(IsPaged, true).annotateMerge(OpenApi.annotations({
    summary: "List templates",
    description: "Templates of every status, newest first."
  }))
).middleware(ApiKeyAuthentication).annotateMerge(
  OpenApi.annotations({
    title: "Templates",
    description:
      "The templates of the provider accounts of the workspace's numbers. A number sends templates of its own account."
  })
) {}

/** Templates as the dashboard shows them, and their sync with the provider. */
export class TemplatesDashboardApi extends HttpApiGroup.make("templatesDashboard").add(
  HttpApiEndpoint.get("list", "/internal/templates", {
    query: shownQuery,
    success: internalListOf(ShownTemplate),
    error: reading
  }).annotate(Access, session("member")).annotate(IsPaged, true).annotateMerge(OpenApi.annotations({
    summary: "List templates",
    description: "Templates of every status, newest first."
  })),
  HttpApiEndpoint.post("create", "/internal/templates", {
    query: noQuery,
    headers: idempotencyKey(),
    payload: CreateTemplate,
    success: ShownTemplate.pipe(HttpApiSchema.status(201)),
    error: writingProvider
  }).annotate(Example.Shown, unreviewed).annotate(Access, session("developer")).annotate(Audited, "template.create")
    .annotate(NeedsIdempotencyKey, true).annotate(ProviderRefuses, providerRefusals)
    .annotateMerge(OpenApi.annotations({
      summary: "Create a template",
      description:
        "Creates it at the provider, which reviews it and reports the result later. Components have the provider's own " +
        "names. What the provider would refuse by its published limits is refused here, with the field in `param`."
    })),
  HttpApiEndpoint.get("get", "/internal/templates/:id", { ...one, success: ShownTemplate, error: reading })
    .annotate(Access, session("member")).annotateMerge(OpenApi.annotations({
      summary: "Get a template",
      description: "A template of any status."
    })),
  HttpApiEndpoint.patch("edit", "/internal/templates/:id", {
    ...one,
    payload: EditTemplate,
    success: ShownTemplate,
    error: writingProvider
  }).annotate(Example.Shown, unreviewed).annotate(Access, session("developer")).annotate(Audited, "template.edit")
    .annotate(ProviderRefuses, [...providerRefusals, "template_not_found"]).annotateMerge(OpenApi.annotations({
      summary: "Change a template",
      description:
        "Components are replaced as a whole, and reviewed again. The provider takes changes of approved, rejected and " +
        "paused templates only, and a few a month."
    })),
  HttpApiEndpoint.delete("remove", "/internal/templates/:id", {
    ...one,
    success: HttpApiSchema.NoContent,
    error: readingProvider
  }).annotate(Access, session("developer")).annotate(Audited, "template.remove").annotate(
    ProviderRefuses,
    providerRefusals
  ).annotateMerge(OpenApi.annotations({
    summary: "Delete a template",
    description: "Deletes this template at the provider. Those of the same name in other languages stay."
  })),
  HttpApiEndpoint.post("sync", "/internal/templates/sync", {
    query: noQuery,
    success: Synced,
    error: readingProvider
  }).annotate(Access, session("developer")).annotate(Audited, "template.sync").annotateMerge(OpenApi.annotations({
    summary: "Sync templates",
    description:
      "Replaces the templates with those that the provider lists now. If it cannot list them, they stay as they are."
  }))
).middleware(SessionAuthentication).annotateMerge(
  OpenApi.annotations({
    title: "Templates (dashboard)",
    description: "Templates for people, and their sync with the provider."
  })
) {}
