/**
 * Turns the observations of `wac doctor` into findings. Pure.
 */
import { Heartbeat, Readiness, type StoreError, Time } from "@wac/core"
import type { Inspection } from "@wac/postgres"
import { Duration } from "effect"

/** The result of one check. */
export interface Finding {
  readonly check:
    | "configuration"
    | "database"
    | "clock"
    | "secrets"
    | "provider"
    | "numbers"
    | "queue"
    | "receivers"
    | "files"
  /** `wrong` breaks the service; `doubtful` may be intentional. */
  readonly state: "fine" | "doubtful" | "wrong"
  readonly message: string
  /** The remedy. */
  readonly advice?: string
}

/** A finding without a problem. */
export const fine = (check: Finding["check"], message: string): Finding => ({ check, state: "fine", message })

/** A finding that may be intentional, with the remedy if it is not. */
export const doubtful = (check: Finding["check"], message: string, advice: string): Finding => ({
  check,
  state: "doubtful",
  message,
  advice
})

/** A finding that breaks the service, with the remedy. */
export const wrong = (check: Finding["check"], message: string, advice: string): Finding => ({
  check,
  state: "wrong",
  message,
  advice
})

/** The oldest PostgreSQL that is supported. */
const oldestPostgres = 150_000

/** The connections of one process: up to ten, and one for notifications. */
const connectionsOfOne = 11

/** From how many milliseconds a round trip to the database counts as slow: a send takes two. */
const slowRoundTrip = 20

const settingsOf = ({ autovacuum, fsync, full_page_writes, synchronous_commit }: Inspection.Inspection["settings"]) => {
  const off = Object.entries({ fsync, full_page_writes, synchronous_commit }).filter(([, value]) => value === "off")
  return [
    ...off.map(([name]) =>
      wrong(
        "database",
        `${name} is off, so a crash of the database can lose sends that were acknowledged`,
        `alter system set ${name} = on; select pg_reload_conf()`
      )
    ),
    ...(autovacuum === "off"
      ? [doubtful("database", "autovacuum is off, so tables grow and queries become slow", "turn autovacuum on")]
      : [])
  ]
}

/** The remedies for a database that cannot be written. */
const remedies: { readonly [problem in StoreError.Problem]: string } = {
  read_only: "name the primary in DATABASE_URL, or all hosts separated by commas",
  disk_full: "free disk space, or enlarge the disk; the service continues by itself",
  not_permitted:
    "grant the user of DATABASE_URL select, insert, update and delete on every table, and usage and select on every sequence, and usage on the schema",
  no_schema: "run `wac migrate`, or restore the backup",
  io_error: "look at the database's log and at its disk"
}

const ofWrites = ({ missingRights, problem, role }: Inspection.Inspection): ReadonlyArray<Finding> => [
  ...problem === undefined ? [] : [wrong("database", Readiness.explain(problem), remedies[problem])],
  ...missingRights.length === 0 ? [] : [
    wrong(
      "database",
      `the role ${role} lacks rights: ${missingRights.join(", ")}`,
      `grant them to ${role}; see docs/guides/postgresql.md, Two roles`
    )
  ]
]

/** The finding about a database that cannot be opened. `advice` applies unless the problem has its own remedy. */
export const ofUnopened = (
  { message, problem }: { readonly message: string; readonly problem?: StoreError.Problem | undefined },
  advice: string
): Finding => wrong("database", message, problem === undefined ? advice : remedies[problem])

/**
 * The findings about an embedded database that a running server uses. The doctor cannot look into it, only at the disk.
 */
export const ofUsed = ({ message, problem }: Parameters<typeof ofUnopened>[0]): ReadonlyArray<Finding> => [
  doubtful(
    "database",
    message,
    "request GET /readyz from its server, which reports whether the database can be written; stop the server to have the doctor look into it"
  ),
  ...problem === undefined ? [] : [wrong("database", Readiness.explain(problem), remedies[problem])]
]

/** The findings about a database server. */
export const ofServer = (found: Inspection.Inspection): ReadonlyArray<Finding> => {
  const { clockAhead, connections, isEncrypted, isWritable, maxConnections, roundTrip, settings, unprovenMode } = found
  const { version, versionNumber } = found
  const encryption = isEncrypted ? "encrypted" : "not encrypted"
  const free = maxConnections - connections
  return [
    versionNumber < oldestPostgres
      ? wrong("database", `PostgreSQL ${version} is too old`, "use PostgreSQL 15 or later")
      : fine(
        "database",
        `PostgreSQL ${version}, ${(found.bytes / 1e6).toFixed(0)} MB, responds after ${roundTrip} ms, ${encryption}`
      ),
    ...isWritable ? [] : [wrong(
      "database",
      "the database takes no writes: it is a standby, or set to read only",
      remedies.read_only
    )],
    ...ofWrites(found),
    ...unprovenMode === undefined ? [] : [doubtful(
      "database",
      `sslmode=${unprovenMode} does not prove that the other machine is the database: somebody on the way can take its place`,
      "set sslmode=verify-full in DATABASE_URL (docs/guides/postgresql.md, Encryption)"
    )],
    ...roundTrip <= slowRoundTrip ? [] : [doubtful(
      "database",
      `the database responds after ${roundTrip} ms, and a send waits for it twice`,
      "run the server near its database"
    )],
    ...free >= connectionsOfOne ? [] : [doubtful(
      "database",
      `${connections} of ${maxConnections} connections are in use, and a process needs up to ${connectionsOfOne}`,
      "raise max_connections, or use a pooler (docs/guides/postgresql.md)"
    )],
    ...settingsOf(settings),
    ofSchema(found),
    ofClock("the database's clock", clockAhead)
  ]
}

/** The finding about the way past a pooler: why it cannot be taken, or whether it leads to the same database. */
export const ofListenUrl = (found: { readonly failure: string } | { readonly isSame: boolean }): Finding => {
  const needs =
    "notifications and migrations go by DATABASE_LISTEN_URL: it must name the database of DATABASE_URL, on " +
    "the primary itself"
  return "failure" in found
    ? wrong("database", `DATABASE_LISTEN_URL: ${found.failure}`, needs)
    : found.isSame
    ? fine("database", "DATABASE_LISTEN_URL leads to the same database")
    : wrong("database", "DATABASE_LISTEN_URL leads to another database than DATABASE_URL, or to a standby of it", needs)
}

/** The findings about an embedded database; `undefined` if there is none yet. */
export const ofEmbedded = (directory: string, found: Inspection.Inspection | undefined): ReadonlyArray<Finding> =>
  found === undefined
    ? [fine("database", `${directory} holds no database yet; the first start creates it`)]
    : [
      fine("database", `embedded PostgreSQL ${found.version} in ${directory}, ${(found.bytes / 1e6).toFixed(0)} MB`),
      ...ofWrites(found),
      ofSchema(found)
    ]

const ofSchema = ({ neededSchemaVersion, schemaVersion }: Inspection.Inspection): Finding =>
  schemaVersion === neededSchemaVersion
    ? fine("database", `the schema has version ${schemaVersion}, as this wac needs`)
    // the doctor cannot distinguish a new database from one that lost everything
    : schemaVersion === 0
    ? doubtful(
      "database",
      "the database does not contain the schema of this service",
      "if it should contain data, check the database's name in DATABASE_URL, or restore the backup; otherwise, run `wac migrate`, or start a server, which does it too"
    )
    : doubtful(
      "database",
      `the schema has version ${schemaVersion}, and this wac needs ${neededSchemaVersion}`,
      "run `wac migrate`, or start a server, which does it too"
    )

/** In milliseconds: a clock with NTP is within a second; receivers accept signatures that are up to 5 minutes old. */
const [driftNoticed, driftHarmful] = [1000, 60_000]

/** The finding about a clock that is `ahead` milliseconds ahead of this machine's; behind it, if that is negative. */
export const ofClock = (whose: string, ahead: number): Finding => {
  const by = `${whose} is ${(Math.abs(ahead) / 1000).toFixed(1)} s ${ahead > 0 ? "ahead of" : "behind"} this machine's`
  const advice = "synchronize the clocks of all machines (NTP)"
  return Math.abs(ahead) < driftNoticed
    ? fine("clock", `${whose} agrees with this machine's`)
    : Math.abs(ahead) < driftHarmful
    ? doubtful("clock", by, advice)
    : wrong("clock", `${by}: receivers and the provider refuse signatures and tokens of a wrong time`, advice)
}

/**
 * The finding about what waits for a person: the queues of workspaces, since the database was restored or is on another
 * server, and campaigns, which also wait after an outage (`Heartbeat.beat`).
 */
export const ofHold = (
  { campaigns, queues }: {
    readonly queues: ReadonlyArray<{ readonly workspace: string; readonly since: number }>
    readonly campaigns: number
  }
): Finding => {
  const [first] = queues
  const held = [
    ...first === undefined
      ? []
      : [
        `queued messages of ${queues.length === 1 ? first.workspace : `${queues.length} workspaces`} since ` +
        Time.iso(first.since)
      ],
    ...campaigns === 0 ? [] : [campaigns === 1 ? "one campaign" : `${campaigns} campaigns`]
  ]
  const outage = first === undefined ? `, or nothing ran for ${Duration.toMinutes(Heartbeat.staleAfter)} minutes` : ""
  const commands = [
    ...campaigns === 0 ? [] : ["`wac campaigns confirm`"],
    ...first === undefined ? [] : ["`wac messages confirm`"]
  ]
  return held.length === 0
    ? fine("queue", "nothing waits for a person because the database was restored")
    : doubtful(
      "queue",
      `what waits for a person, because the database was restored or moved to another server${outage}: ${
        held.join("; ")
      }`,
      `look at what waits, then release it with ${commands.join(" and ")} (docs/guides/backups.md, After restoring)`
    )
}

/** The finding about a workspace's webhook: whether it is paused, and the `failure` to reach its receiver. */
export const ofReceiver = (
  { failure, pausedAt, url, workspace }: {
    readonly workspace: string
    readonly url: string
    readonly pausedAt: number | null
    readonly failure: string | undefined
  }
): Finding => {
  const name = `${url} of ${workspace}`
  const resume = `\`wac webhook resume --workspace ${workspace}\``
  const paused = pausedAt === null ? "" : `paused since ${Time.iso(pausedAt)}`
  return failure !== undefined
    ? wrong(
      "receivers",
      `${name} cannot be reached: ${failure}${pausedAt === null ? "" : `; it is ${paused}`}`,
      pausedAt === null
        ? "tell its owner; deliveries are retried for 24 hours"
        : `tell its owner; its events are held until ${resume}`
    )
    : pausedAt === null
    ? fine("receivers", `${name} can be reached`)
    : doubtful("receivers", `${name} can be reached, but is ${paused}`, `${resume}, once its owner agrees`)
}

/**
 * The finding about the master keys under which secrets are sealed. The pepper's alone is not enough: keys, webhooks and
 * numbers' tokens may still be under another.
 */
export const ofMasterKeys = (
  used: ReadonlyArray<string>,
  { current, previous }: { readonly current: string; readonly previous: string | undefined }
): Finding => {
  const unknown = used.filter((id) => id !== current && id !== previous)
  return unknown.length > 0
    ? wrong(
      "secrets",
      `secrets are sealed under a master key that is not configured (${unknown.join(", ")}): what needs them fails`,
      "set WAC_MASTER_KEY_PREVIOUS to that key until a server's log says that no secret is encrypted with it " +
        "(docs/guides/rotation.md)"
    )
    : previous !== undefined && previous !== current && used.includes(previous)
    ? doubtful(
      "secrets",
      `secrets are still sealed under the previous master key (${previous})`,
      "keep WAC_MASTER_KEY_PREVIOUS; running servers seal them again under the current key within minutes"
    )
    : fine("secrets", "the master key opens the storage's secrets")
}

const marks = { fine: "ok   ", doubtful: "check", wrong: "WRONG" } as const

/** The findings for a terminal. */
export const text = (findings: ReadonlyArray<Finding>): string =>
  findings.map(({ advice, check, message, state }) =>
    `${marks[state]}  ${check}: ${message}${advice === undefined ? "" : `\n       → ${advice}`}`
  ).join("\n")
