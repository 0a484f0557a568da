/**
 * `MemberStore.assign` in PostgreSQL: it locks the identity, then the person's row in `people`. If several transactions
 * try to create the same person, one succeeds, and the others find that person.
 */
import { type Id, MemberStep } from "@wac/core"
import { columns, list, unlessEmpty } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import type { Relation } from "../Schema.ts"
import { statement, value } from "../Statement.ts"
import { insert } from "../TableStatements.ts"
import { stopAlerts } from "./StopAlerts.ts"
import { member, person as people } from "./StoredPerson.ts"

const person = people.pick("userId", "email")

const membership = member.pick("workspaceId", "createdAt")

const link = columns<MemberStep.Link>({ issuer: "text", subject: "text", userId: "text", createdAt: "bigint" })

const command = columns<
  Pick<MemberStep.Assign, "userId" | "email" | "now"> & MemberStep.Assign["identity"] & { readonly mayCreate: boolean }
>({ userId: "text", email: "text", now: "bigint", issuer: "text", subject: "text", mayCreate: "boolean" })

/** Locks an identity by an advisory lock, since an unknown identity has no row. */
const lock = statement({ name: value<string>() }, ({ name }) => `
  select pg_advisory_xact_lock(hashtext('wac:identities'), hashtext(${name}))`)

/**
 * Creates a row for an address without an account, which serves as the address's lock. The step decides whether it
 * becomes a person.
 */
const start = statement(
  { command: command.one },
  ({ command: { email, issuer, mayCreate, now, subject, userId } }) =>
    `insert into wac.people (user_id, email, created_at) select ${userId}, ${email}, ${now}
  where ${mayCreate} and not exists (select from wac.identities i where i.issuer = ${issuer} and i.subject = ${subject})
  on conflict (email) do nothing returning user_id`
)

/** Prepares a statement about the identity's person, or, if the identity is unknown, the address's person. */
const ofPerson = (write: (userId: string, issuer: string) => string) =>
  statement({ asked: command.pick("issuer", "subject", "email").one }, ({ asked: { email, issuer, subject } }) =>
    write(
      `coalesce((select i.user_id from wac.identities i where i.issuer = ${issuer} and i.subject = ${subject}),
    (select e.user_id from wac.people e where e.email = ${email}))`,
      issuer
    ))

const lockPerson = ofPerson((userId) =>
  `select ${person.names("p")} from wac.people p where p.user_id = ${userId} for update`
)

/** Loads the person's identities at the issuer. */
const loadLinks = ofPerson((userId, issuer) =>
  `select i.subject from wac.identities i where i.issuer = ${issuer} and i.user_id = ${userId}`
)

/** Locks the person's memberships against `MemberStore.change`, which locks them in the same order. */
const lockMembers = ofPerson((userId) =>
  `select ${membership.names("m")} from wac.members m where m.user_id = ${userId} order by m.workspace_id for update`
)

const keepPeople = insert(
  people,
  "wac.people as p",
  `
  on conflict (user_id) do update set ${people.set("excluded", "userId", "email")}`
)

const keepLinks = insert(link, "wac.identities")

/** Deletes the person's rows of a table in all workspaces except `left`. */
const remove = (table: Relation) =>
  statement(
    { userId: value<Id.UserId>(), left: list<Id.WorkspaceId>("text") },
    ({ left, userId }) => `delete from ${table} t where t.user_id = ${userId} and t.workspace_id <> all (${left})`
  )

const removeMembers = remove("wac.members")

const endSessions = remove("wac.sessions")

const keepMembers = unlessEmpty(member, (rows) => `
  insert into wac.members as m (${member.names()}) select ${member.names("s")} from ${rows("s")} order by s.workspace_id
  on conflict (workspace_id, user_id) do update set ${member.set("excluded", "workspaceId", "userId")}`)

/** `MemberStore.assign`, one at a time. */
export const assign: StepOptions<
  MemberStep.Assign,
  MemberStep.LoadedPeople,
  MemberStep.Recognized,
  MemberStep.AssignWrites
> = {
  size: 1,
  load: ([command]) => {
    const { email, identity, roles } = command!
    // `start` must create no row for an assignment that the step refuses
    const asked = { ...command!, ...identity, mayCreate: email !== null && roles.length > 0 }
    return [
      lock({ name: JSON.stringify([identity.issuer, identity.subject]) }),
      start({ command: asked }),
      lockPerson({ asked }),
      loadLinks({ asked }),
      lockMembers({ asked })
    ]
  },
  read: ([, started, people, links, members], now, [command]) => {
    const [row] = people!
    const known = started!.length > 0 || row === undefined ? undefined : person.read(row)
    const isKnown = links!.some((row) => row["subject"] === command!.identity.subject)
    return {
      now,
      identified: () => isKnown ? known : undefined,
      addressed: () => known && { ...known, isLinked: links!.length > 0 },
      memberships: () => members!.map(membership.read)
    }
  },
  decide: MemberStep.assign,
  write: ({ assigned, links, people, removed }) => [
    ...keepPeople(people),
    ...keepLinks(links),
    ...assigned.flatMap(({ continued, members, userId }) => [
      removeMembers({ userId, left: members.map(({ workspaceId }) => workspaceId) }),
      endSessions({ userId, left: continued }),
      ...keepMembers(members)
    ]),
    ...stopAlerts(removed)
  ]
}
