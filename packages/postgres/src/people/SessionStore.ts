/**
 * `SessionStore` in PostgreSQL: the statements of its methods.
 */
import { type Id, type Member, Session, SessionStore, type Time } from "@wac/core"
import { Duration, Effect, Layer } from "effect"
import { callerClock } from "../CallerClock.ts"
import * as Clocks from "../Clocks.ts"
import { bigint, columns, row } from "../Columns.ts"
import { Database } from "../Database.ts"
import * as Forgotten from "../Forgotten.ts"
import { first, isAny, type Row, statement, value } from "../Statement.ts"
import { remove } from "../TableStatements.ts"

/** Reads a session's roles. A constraint of the column makes sure that the JSON is an object. */
const rolesOf = (stored: { readonly [workspaceId: string]: Member.Role } | null): Session.Roles | null =>
  stored && new Map(Object.entries(stored).map(([workspaceId, role]) => [workspaceId as Id.WorkspaceId, role]))

const session = columns<
  Omit<SessionStore.StoredSession, "roles"> & { readonly roles: Parameters<typeof rolesOf>[0] }
>({
  id: "text",
  tokenHash: "text",
  userId: "text",
  workspaceId: "text",
  roles: "json",
  address: "text",
  agent: "text",
  createdAt: "bigint",
  idleUntil: "bigint",
  absoluteUntil: "bigint"
})

const sessionOf = (row: Row): SessionStore.StoredSession => {
  const { roles, ...others } = session.read(row)
  return { ...others, roles: rolesOf(roles) }
}

const storedOf = ({ roles, ...others }: SessionStore.StoredSession): ReturnType<typeof session.read> => ({
  ...others,
  roles: roles && Object.fromEntries(roles)
})

const stored = session.and(row({ provenAt: bigint<Time.Instant | null>() }))

/**
 * Creates a session. The person's row is locked against a change of the password (`SetPassword`), which ends all
 * sessions. If the change comes first, the statement sees the new password, and refuses a sign-in with the old one. A
 * session that continues another one depends on the row that is deleted: reading that row would use the snapshot, and
 * so find a session that has ended since.
 */
const create = statement({
  session: stored.one,
  now: Clocks.asked,
  of: value<string | null>(),
  passwordHash: value<string | null>(),
  isContinuing: value<boolean>()
}, ({ isContinuing, now, of, passwordHash, session }) => {
  const after = (until: string) => `o.now + ${until} - ${session.createdAt}`
  const kept = stored.values({
    ...session,
    createdAt: "o.now",
    idleUntil: `least(${after(session.idleUntil)}, o.absolute_until)`,
    absoluteUntil: `coalesce(o.absolute_until, ${after(session.absoluteUntil)})`,
    provenAt: `coalesce(o.proven_at, ${session.provenAt})`
  })
  return `with held as (
    select p.user_id from wac.people p
    where p.user_id = ${session.userId} and (${passwordHash}::text is null or p.password_hash = ${passwordHash})
    for share
  ), present as materialized (
    select ${now} as now, h.user_id from held h
  ), ended as (
    delete from wac.sessions s where s.token_hash = ${of} and exists (select from present)
      and (not ${isContinuing}::boolean or s.user_id = ${session.userId})
    returning coalesce(s.proven_at, s.created_at) as proven_at, s.absolute_until
  ), opened as (
    select p.now, p.user_id, e.proven_at, e.absolute_until
    from present p left join ended e on ${isContinuing}::boolean
    where not ${isContinuing}::boolean or e.proven_at is not null
  ), kept as (
    insert into wac.sessions (${stored.names()}) select ${kept} from opened o
    on conflict (token_hash) do nothing
  )
  select user_id from opened`
})

const tokenHash = value<string>()

const userId = value<Id.UserId>()

/**
 * Finds a live session and records its use. This is the rule of `Session.used` in SQL, which the conformance suite
 * compares with it: every request of the dashboard waits for this, and a step would need a second round trip. A use
 * that does not move the idle end writes nothing.
 */
const use = statement({ tokenHash, now: Clocks.asked, idleFor: value<number>() }, ({ idleFor, now, tokenHash }) => `
  with live as (
    select ${session.names("s")}, least(n.now + ${idleFor}::bigint, s.absolute_until) as until
    from wac.sessions s, (select ${now} as now offset 0) n
    where s.token_hash = ${tokenHash} and n.now < s.idle_until and n.now < s.absolute_until
  ), used as (
    select l.*, l.until - l.idle_until >= ${Duration.toMillis(Session.idleStep)}
      or (l.until > l.idle_until and l.until = l.absolute_until) as is_moved
    from live l
  ), kept as (
    update wac.sessions s set idle_until = greatest(s.idle_until, u.until) from used u
    where s.token_hash = u.token_hash and u.is_moved
  )
  select ${session.omit("idleUntil").names("u")}, case when u.is_moved then u.until else u.idle_until end as idle_until
  from used u`)

const isFresh = statement({ tokenHash, now: Clocks.asked }, ({ now, tokenHash }) => `
  select from wac.sessions where token_hash = ${tokenHash}
    and ${now} < coalesce(proven_at, created_at) + ${Duration.toMillis(Session.freshFor)}`)

const prove = statement({ tokenHash, now: Clocks.asked, next: value<string>() }, ({ next, now, tokenHash }) => `
  update wac.sessions set proven_at = ${now}, token_hash = ${next} where token_hash = ${tokenHash} returning id`)

const list = statement({ userId, now: Clocks.asked }, ({ now, userId }) =>
  `select ${session.names()} from wac.sessions
  where user_id = ${userId} and idle_until > ${now} and absolute_until > ${now}
  order by created_at desc, id desc`)

const end = remove("wac.sessions", session.pick("userId", "id"))

const endAll = statement({ userId, keep: value<string | null>() }, ({ keep, userId }) => `
  delete from wac.sessions where user_id = ${userId} and token_hash is distinct from ${keep} returning id`)

const move = statement({ tokenHash, workspaceId: value<Id.WorkspaceId>() }, ({ tokenHash, workspaceId }) => `
  update wac.sessions set workspace_id = ${workspaceId} where token_hash = ${tokenHash}`)

const removeOne = remove("wac.sessions", session.pick("tokenHash"))

const forget = Forgotten.endedBefore("wac.sessions", "absolute_until", "<=")

export const layer = Layer.effect(
  SessionStore.SessionStore,
  Effect.map(Effect.all([Database, callerClock]), ([{ query }, callerNow]) =>
    SessionStore.SessionStore.of({
      create: (session, { isContinuing = false, of = null, passwordHash = null, provenAt = null } = {}) =>
        Effect.map(
          query(
            "SessionStore.create",
            create({
              session: { ...storedOf(session), provenAt },
              now: callerNow(session.createdAt),
              of,
              passwordHash,
              isContinuing
            })
          ),
          isAny
        ),
      use: (tokenHash, now, idleUntil) =>
        Effect.map(
          query("SessionStore.use", use({ tokenHash, now: callerNow(now), idleFor: idleUntil - now })),
          first(sessionOf)
        ),
      isFresh: (tokenHash, now) =>
        Effect.map(query("SessionStore.isFresh", isFresh({ tokenHash, now: callerNow(now) })), isAny),
      prove: (tokenHash, now, next) =>
        Effect.map(query("SessionStore.prove", prove({ tokenHash, now: callerNow(now), next })), isAny),
      list: (userId, now) =>
        Effect.map(query("SessionStore.list", list({ userId, now: callerNow(now) })), (rows) => rows.map(sessionOf)),
      end: (userId, id) => Effect.map(query("SessionStore.end", end({ userId, id })), isAny),
      endAll: (userId, keep) =>
        Effect.map(query("SessionStore.endAll", endAll({ userId, keep: keep ?? null })), (rows) => rows.length),
      move: (tokenHash, workspaceId) => Effect.asVoid(query("SessionStore.move", move({ tokenHash, workspaceId }))),
      forget: (before) => Effect.map(query("SessionStore.forget", forget({ before })), Forgotten.read),
      remove: (tokenHash) => Effect.asVoid(query("SessionStore.remove", removeOne({ tokenHash })))
    }))
)
