import { MemberStore } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { instant, plain } from "../Column.ts"
import { Database } from "../Database.ts"
import type { Row } from "../Statement.ts"
import { workspaceColumns, workspaceOf } from "../workspaces/WorkspaceStore.ts"

const membershipOf = (row: Row): MemberStore.Membership => ({
  member: {
    userId: plain(row, "user_id"),
    workspaceId: plain(row, "workspace_id"),
    email: plain(row, "email"),
    passwordHash: plain(row, "password_hash"),
    role: plain(row, "role"),
    createdAt: instant(row, "created_at")
  },
  workspace: workspaceOf(row)
})

const selected = `select m.user_id, m.email, m.password_hash, m.role, m.created_at, ${workspaceColumns("w")}
  from members m join workspaces w on w.id = m.workspace_id`

export const layer = Layer.effect(
  MemberStore.MemberStore,
  Effect.map(Database, ({ query }) => {
    const find = (operation: string, column: "email" | "user_id", value: string) =>
      Effect.map(
        query(`MemberStore.${operation}`, `${selected} where m.${column} = $1`, [value]),
        ([row]) => Option.map(Option.fromUndefinedOr(row), membershipOf)
      )
    return MemberStore.MemberStore.of({
      findByEmail: (email) => find("findByEmail", "email", email),
      list: Effect.map(
        query("MemberStore.list", `${selected} order by m.created_at, m.user_id`, []),
        (rows) => rows.map(membershipOf)
      ),
      setPassword: (userId, passwordHash) =>
        Effect.map(
          query("MemberStore.setPassword", "select wac_set_password($1, $2) as ended", [userId, passwordHash]),
          ([row]) => Option.fromNullishOr(plain<number | null>(row!, "ended"))
        ),
      findByUserId: (userId) => find("findByUserId", "user_id", userId)
    })
  })
)
