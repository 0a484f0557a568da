/**
 * `/v1/templates`.
 */
import { Api, Caller } from "@wac/api"
import { StoreError, type Template, Templates, Time } from "@wac/core"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import * as Paging from "./Paging.ts"

const listed = (template: Template.Template) => ({
  id: template.id,
  name: template.name,
  language: template.language,
  category: template.category,
  status: template.status,
  parameter_format: template.parameterFormat,
  components: template.components,
  variables: template.variables,
  quality: template.quality,
  rejection_reason: template.rejectionReason,
  provider_template_id: template.providerTemplateId,
  synced_at: Time.iso(template.syncedAt)
})

export const layer = HttpApiBuilder.group(
  Api,
  "templates",
  Effect.fnUntraced(function*(handlers) {
    const templates = yield* Templates.Templates
    return handlers.handleAll({
      list: Effect.fnUntraced(function*({ query: { cursor: _cursor, limit: _limit, ...filter }, query }) {
        const { workspace } = yield* Caller.Caller
        return Paging.list(yield* templates.list(workspace.id, filter, yield* Paging.request(query)), listed)
      }, StoreError.orUnavailable)
    })
  })
)
