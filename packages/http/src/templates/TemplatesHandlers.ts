/**
 * The handlers of `/v1/templates` and `/internal/templates`: listing templates, changing them, and their sync.
 */
import { Api, Caller } from "@wac/api"
import { Provider, StoreError, type Template, Templates, Time } from "@wac/core"
import { Effect, Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Exchange } from "../Exchange.ts"
import * as HandlerGroup from "../HandlerGroup.ts"
import * as Paging from "../Paging.ts"

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

/** A template as the dashboard shows it. */
export const shown = (template: Template.Template) => ({
  id: template.id,
  name: template.name,
  language: template.language,
  category: template.category,
  status: template.status,
  parameterFormat: template.parameterFormat,
  components: template.components,
  variables: template.variables,
  unfillable: template.unfillable,
  quality: template.quality,
  rejectionReason: template.rejectionReason,
  providerAccountId: template.providerAccountId,
  providerTemplateId: template.providerTemplateId,
  syncedAt: Time.iso(template.syncedAt)
})

const publicLayer = HandlerGroup.layer(
  Effect.gen(function*() {
    const templates = yield* Templates.Templates
    return HttpApiBuilder.group(Api, "templates", (handlers) =>
      handlers.handleAll({
        list: Effect.fnUntraced(function*({ query: { cursor: _cursor, limit: _limit, ...filter }, query }) {
          const { workspace } = yield* Caller.Caller
          return Paging.list(yield* templates.list(workspace.id, filter, yield* Paging.request(query, "tpl")), listed)
        }, StoreError.orUnavailable)
      }))
  })
)

/** Notes a changed template for the audit. */
const changed = Effect.fnUntraced(function*(template: Template.Template) {
  const exchange = yield* Exchange
  exchange.changed = { target: template.id, detail: { name: template.name, language: template.language } }
  return shown(template)
})

const dashboardLayer = HandlerGroup.layer(
  Effect.gen(function*() {
    const templates = yield* Templates.Templates
    return HttpApiBuilder.group(Api, "templatesDashboard", (handlers) =>
      handlers.handleAll({
        list: Effect.fnUntraced(function*({ query: { cursor: _cursor, limit: _limit, ...filter }, query }) {
          const { workspaceId } = yield* Caller.CurrentSession
          return Paging.internalList(
            yield* templates.list(workspaceId, filter, yield* Paging.request(query, "tpl")),
            shown
          )
        }, StoreError.orUnavailable),
        get: Effect.fnUntraced(function*({ params }) {
          const { workspaceId } = yield* Caller.CurrentSession
          return shown(yield* templates.get(workspaceId, params.id))
        }, StoreError.orUnavailable),
        create: Effect.fnUntraced(function*({ payload: { phoneNumberId, ...draft } }) {
          const { workspaceId } = yield* Caller.CurrentSession
          return yield* changed(yield* templates.create(workspaceId, draft, phoneNumberId))
        }, StoreError.orUnavailable),
        edit: Effect.fnUntraced(function*({ params, payload }) {
          const { workspaceId } = yield* Caller.CurrentSession
          return yield* changed(yield* templates.edit(workspaceId, params.id, payload))
        }, StoreError.orUnavailable),
        remove: Effect.fnUntraced(function*({ params }) {
          const { workspaceId } = yield* Caller.CurrentSession
          yield* changed(yield* templates.remove(workspaceId, params.id))
        }, StoreError.orUnavailable),
        sync: Effect.fnUntraced(
          function*() {
            const { workspaceId } = yield* Caller.CurrentSession
            const { count, listedAt } = yield* templates.sync(workspaceId)
            return { count, syncedAt: Time.iso(listedAt) }
          },
          Effect.catchTag("TemplatesUnavailable", (error) => Effect.fail(Provider.toServerError(error))),
          StoreError.orUnavailable
        )
      }))
  })
)

export const layer = Layer.merge(publicLayer, dashboardLayer)
