import { assert, it } from "@effect/vitest"
import type { Id } from "@wac/core"
import { Effect, Schema } from "effect"
import { Table } from "../src/Table.ts"

const workspaceId = "ws_1" as Id.WorkspaceId

it.effect.prop("pages are in the order of identifiers, newest first, in whatever order rows were added and removed", {
  added: Schema.Array(Schema.Int),
  removed: Schema.Array(Schema.Int)
}, ({ added, removed }) =>
  Effect.sync(() => {
    const row = (n: number) => ({ id: `id_${String(Math.abs(n) % 40).padStart(2, "0")}`, workspaceId })
    const table = new Table<ReturnType<typeof row>>()
    const model = new Set<string>()
    for (const n of added) {
      table.set(row(n))
      model.add(row(n).id)
    }
    for (const n of removed) {
      table.delete(row(n))
      model.delete(row(n).id)
    }
    const seen: Array<string> = []
    for (let after: string | null = null, more = true; more;) {
      const page = table.page(workspaceId, { limit: 3, after }, () => true)
      seen.push(...page.items.map(({ id }) => id))
      after = page.next
      more = after !== null
    }
    assert.deepStrictEqual(seen, [...model].sort().reverse())
  }))
