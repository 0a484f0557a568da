/**
 * The stored form of people and of workspaces' members.
 */
import type { Member } from "@wac/core"
import { columns } from "../Columns.ts"

/** The columns of `people`. */
export const person = columns<Member.Person>({
  userId: "text",
  email: "text",
  passwordHash: "text",
  createdAt: "bigint"
})

/** The columns of `members`. */
export const member = columns<Omit<Member.Member, "email">>({
  userId: "text",
  workspaceId: "text",
  role: "text",
  createdAt: "bigint"
})
