/**
 * People, and members of workspaces, as they are stored.
 */
import type { Member } from "@wac/core"
import { columns } from "../Columns.ts"

/** A row of `people`. */
export const person = columns<Member.Person>({
  userId: "text",
  email: "text",
  passwordHash: "text",
  createdAt: "bigint"
})

/** A row of `members`. */
export const member = columns<Omit<Member.Member, "email">>({
  userId: "text",
  workspaceId: "text",
  role: "text",
  createdAt: "bigint"
})
