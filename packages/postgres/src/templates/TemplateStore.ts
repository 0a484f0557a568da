/**
 * `TemplateStore` in PostgreSQL: combines the operations of this folder (`TemplateStep`) and adds the short statements.
 */
import { Page, TemplateStore } from "@wac/core"
import { Effect, Layer } from "effect"
import { select } from "../Columns.ts"
import { Database } from "../Database.ts"
import { first } from "../Statement.ts"
import { template } from "./StoredTemplate.ts"
import * as TemplateStep from "./TemplateStep.ts"

/** The name comes first, because {@link named} refers to its parameter by number. */
const filters = ["name", "status", "category", "language"] as const

const get = select(template, "wac.templates", template.pick("workspaceId", "id"))

/** A name has few templates (languages and accounts), so all are read before they are sorted. */
const named = "(select * from wac.templates n where n.workspace_id = $1 and n.name = $3 offset 0)"

export const layer = Layer.effect(
  TemplateStore.TemplateStore,
  Effect.gen(function*() {
    const { query, stepped } = yield* Database
    const replaceAll = yield* stepped("TemplateStore.replaceAll", TemplateStep.replaceAll)
    const put = yield* stepped("TemplateStore.put", TemplateStep.put)
    const remove = yield* stepped("TemplateStore.remove", TemplateStep.remove)
    const update = yield* stepped("TemplateStore.update", TemplateStep.update)

    return TemplateStore.TemplateStore.of({
      replaceAll,
      put,
      remove,
      update,
      get: (workspaceId, id) => Effect.map(query("TemplateStore.get", get({ workspaceId, id })), first(template.read)),
      list: (workspaceId, filter, page) => {
        const conditions = ["workspace_id = $1"]
        const params: Array<unknown> = [workspaceId, page.limit + 1]
        const require = (column: string, operator: string, value: unknown) => {
          params.push(value)
          conditions.push(`${column} ${operator} $${params.length}`)
        }
        for (const field of filters) {
          if (filter[field] !== undefined) require(field, "=", filter[field])
        }
        if (filter.nameContains !== undefined) {
          params.push(filter.nameContains)
          conditions.push(`strpos(name, $${params.length}) > 0`)
        }
        if (filter.provider !== undefined) {
          params.push(filter.provider)
          conditions.push(
            `provider_account_id = any (array(
              select p.provider_account_id from wac.phone_numbers p where p.workspace_id = $1 and p.provider = $${params.length}
            ))`
          )
        }
        if (page.after !== null) require("id", "<", page.after)
        return Effect.map(
          query("TemplateStore.list", {
            text: `select ${template.names("t")} from ${filter.name === undefined ? "wac.templates" : named} t where ${
              conditions.join(" and ")
            } order by id desc limit $2`,
            params
          }),
          (rows) => Page.fromOverread(rows.map(template.read), page, ({ id }) => id)
        )
      }
    })
  })
)
