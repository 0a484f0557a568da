/**
 * Records heartbeats of processes, which show whether the database was restored (core's `Heartbeat.beat`). Lock order:
 * the heartbeat, then campaigns.
 */
import { type CampaignStep, Heartbeat } from "@wac/core"
import { campaignColumns, jobOf, keepJobs } from "../campaigns/StoredCampaign.ts"
import { bigint, columns, row, text } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import type { Statement } from "../Statement.ts"
import { insertOne } from "../TableStatements.ts"

/**
 * An advisory lock, so that processes that start together wait for each other even in a new database, which has no row
 * to lock.
 */
const lockText = "select pg_advisory_xact_lock(hashtext('wac:heartbeats'), 0)"

/** A release of all queues takes only this lock. What it writes is lost if the heartbeat was loaded before. */
const lockRowText = "select from wac.heartbeats h for no key update"

/**
 * Loads the last heartbeat. `system_identifier` belongs to the server's data files: a copy of the files keeps it, but a
 * dump that is restored on another server gets that server's identifier.
 */
const heartbeatText = `select h.beat_at, h.server, h.held_since, s.system_identifier::text as current_server
  from pg_control_system() s left join wac.heartbeats h on true`

const found = row({
  beatAt: bigint<number | null>(),
  server: text<string | null>(),
  heldSince: bigint<number | null>(),
  currentServer: text()
})

const heartbeat = columns<Heartbeat.Heartbeat, { at: "beat_at" }>(
  { at: "bigint", server: "text", heldSince: "bigint" },
  { at: "beat_at" }
)

const keep = insertOne(heartbeat, "wac.heartbeats", ` on conflict (single) do update set ${heartbeat.set("excluded")}`)

const jobsLockText = "select c.id from wac.campaigns c where c.work_at is not null order by c.id for no key update"

const jobsText = `select ${campaignColumns} from wac.campaigns c where c.work_at is not null order by c.id`

const loadJobs: ReadonlyArray<Statement> = [{ text: jobsLockText }, { text: jobsText }]

/** `QueueStore.beat`. */
export const beat: StepOptions<Heartbeat.Beat, Heartbeat.Loaded, Heartbeat.BeatResult, Heartbeat.Writes, "Jobs"> = {
  load: () => [{ text: lockText }, { text: lockRowText }, { text: heartbeatText }],
  read: ([, , rows], now) => {
    const { beatAt, currentServer, heldSince, server } = found.read(rows![0]!)
    return {
      now,
      heartbeat: beatAt === null ? undefined : { at: beatAt, server: server!, heldSince },
      server: currentServer,
      jobs: null
    }
  },
  decide: Heartbeat.beat,
  more: {
    load: () => loadJobs,
    read: (loaded, _, [, rows]): Heartbeat.Loaded => ({
      ...loaded,
      jobs: rows!.map((row): CampaignStep.Job => jobOf(row))
    })
  },
  write: ({ heartbeat, jobs }) => [
    keep(heartbeat),
    ...keepJobs(jobs)
  ]
}
