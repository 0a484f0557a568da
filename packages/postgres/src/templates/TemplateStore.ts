import { Page, Template, TemplateStore } from "@wac/core"
import { Effect, Layer } from "effect"
import { plain } from "../Column.ts"
import { Database } from "../Database.ts"

const filters = ["status", "category", "language", "name"] as const

/** Of a template that is listed twice the first takes an id, and the last says what it is. */
const distinct = (
  { ids, listed }: Parameters<TemplateStore.TemplateStore["Service"]["replaceAll"]>[0]
): ReadonlyArray<unknown> => {
  const byName = new Map<
    string,
    Template.ProviderTemplate & Pick<Template.Template, "id" | "unfillable" | "variables">
  >()
  listed.forEach((template, i) => {
    const name = `${template.language} ${template.name}`
    const id = byName.get(name)?.id ?? ids[i]!
    byName.set(name, {
      ...template,
      id,
      variables: Template.variablesOf(template.components),
      unfillable: Template.unfillableOf(template)
    })
  })
  return [...byName.values()]
}

export const layer = Layer.effect(
  TemplateStore.TemplateStore,
  Effect.map(Database, ({ query }) =>
    TemplateStore.TemplateStore.of({
      replaceAll: (command) =>
        Effect.asVoid(query("TemplateStore.replaceAll", "select wac_replace_templates($1, $2, $3, $4::text::json)", [
          command.workspaceId,
          command.providerAccountId,
          command.listedAt,
          JSON.stringify(distinct(command))
        ])),
      update: ({ at, now, ...told }) =>
        Effect.map(
          query("TemplateStore.update", "select wac_update_template($1::text::json) as many", [
            JSON.stringify({ ...told, at: Math.min(at, now) })
          ]),
          ([row]) => plain<number>(row!, "many")
        ),
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
        if (filter.provider !== undefined) {
          params.push(filter.provider)
          conditions.push(
            `provider_account_id = any (array(
              select p.provider_account_id from phone_numbers p where p.workspace_id = $1 and p.provider = $${params.length}
            ))`
          )
        }
        if (page.after !== null) require("id", "<", page.after)
        return Effect.map(
          query(
            "TemplateStore.list",
            `select wac_template(t) as template from templates t where ${
              conditions.join(" and ")
            } order by id desc limit $2`,
            params
          ),
          (rows) =>
            Page.fromOverread(rows.map((row) => plain<Template.Template>(row, "template")), page, ({ id }) => id)
        )
      }
    }))
)
