/**
 * `TemplateStore` in PostgreSQL: combines the operations of this folder (`TemplateStep`) and adds the short statements.
 */
import { type Id, Page, TemplateStore } from "@wac/core"
import { Effect, Layer } from "effect"
import { Database } from "../Database.ts"
import { filteredPages } from "../Pages.ts"
import { first, ifGiven, value } from "../Statement.ts"
import { select } from "../TableStatements.ts"
import { template } from "./StoredTemplate.ts"
import * as TemplateStep from "./TemplateStep.ts"

const workspaceId = value<Id.WorkspaceId>()

const text = value<string>()

/** The columns that a filter compares with a value. */
const compared = ["name", "status", "category", "language"] as const

const get = select(template, "wac.templates", template.pick("workspaceId", "id"))

/** A name has few templates (languages and accounts), so all are read before they are sorted. */
const named = (workspaceId: string, name: string): string =>
  `(select * from wac.templates n where n.workspace_id = ${workspaceId} and n.name = ${name} offset 0)`

const list = filteredPages(
  { workspaceId },
  { name: text, status: text, category: text, language: text, nameContains: text, provider: text },
  ({ workspaceId }, { nameContains, provider, ...filters }, { isAfter, limit }) => {
    const of = filters.name === undefined ? "wac.templates" : named(workspaceId, filters.name)
    const conditions = [
      `workspace_id = ${workspaceId}`,
      ...compared.map((column) => ifGiven(filters[column], (text) => `${column} = ${text}`)),
      ifGiven(nameContains, (part) => `strpos(name, ${part}) > 0`),
      ifGiven(provider, (provider) =>
        `provider_account_id = any (array(
          select p.provider_account_id from wac.phone_numbers p
          where p.workspace_id = ${workspaceId} and p.provider = ${provider}
        ))`),
      isAfter("id")
    ].filter((condition) => condition !== "")
    return `select ${template.names("t")} from ${of} t where ${
      conditions.join(" and ")
    } order by id desc limit ${limit}`
  }
)

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
      list: (workspaceId, { category, language, name, nameContains, provider, status }, page) =>
        Effect.map(
          query(
            "TemplateStore.list",
            list({ workspaceId }, { category, language, name, nameContains, provider, status }, page)
          ),
          (rows) => Page.fromOverread(rows.map(template.read), page, ({ id }) => id)
        )
    })
  })
)
