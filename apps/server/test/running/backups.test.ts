/**
 * Backups as the guide makes and restores them: by a dump, and by a base backup and the log. A restored copy goes on
 * with deliveries and sends no campaign unasked.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Daemon from "@wac/testbed/Daemon"
import { deployed } from "@wac/testbed/Deployed"
import * as FreePort from "@wac/testbed/FreePort"
import * as Program from "@wac/testbed/Program"
import { RecordingReceiver } from "@wac/testkit"
import { Effect } from "effect"
import { rm } from "node:fs/promises"
import { join } from "node:path"
import * as checks from "../checks.ts"
import * as guide from "../guide.ts"
import { call, hello, ready, receiver, send, setWebhook } from "../harness.ts"
import * as processes from "../processes.ts"
import { masterKey, sql } from "../processes.ts"

const needed = Program.needed({
  programs: ["pgbackrest", "pg_dump", "initdb"],
  untested: "backups and their restoration",
  install: "apt-get install postgresql pgbackrest"
})

/** A PostgreSQL server that the guide's commands stop, start and restore. */
const managed = Effect.gen(function*() {
  const directory = yield* Effect.promise(() => Daemon.directory("wac-backups-"))
  const port = yield* Effect.promise(FreePort.find)
  const data = join(directory, "data")
  const env = {
    PGDATA: data,
    PGBACKREST_CONFIG: deployed("pgbackrest/pgbackrest.conf"),
    PGBACKREST_PG1_PATH: data,
    PGBACKREST_PG1_PORT: `${port}`,
    PGBACKREST_PG1_SOCKET_PATH: directory,
    PGBACKREST_REPO1_PATH: join(directory, "repository"),
    PGBACKREST_LOCK_PATH: join(directory, "lock"),
    PGBACKREST_LOG_PATH: join(directory, "log"),
    PGBACKREST_SPOOL_PATH: join(directory, "spool")
  }
  const follow = (commands: string, more: Readonly<Record<string, string>> = {}) =>
    guide.run(commands, {
      replaced: [["@127.0.0.1/", `@127.0.0.1:${port}/`]],
      directory,
      env: { ...env, ...more },
      asOwner: true
    })
  yield* Effect.acquireRelease(
    follow(`
      initdb --username=postgres --auth=trust --encoding=UTF8 --no-sync
      printf "port=${port}\\nunix_socket_directories='${directory}'\\nfsync=off\\n" >>"$PGDATA/postgresql.conf"
      pg_ctl start
      psql postgres://postgres:secret@127.0.0.1/postgres --command="create role wac login password 'secret'" \
        --command="create database wac owner wac"`),
    () =>
      Effect.andThen(
        follow("pg_ctl stop --mode=immediate || true"),
        Effect.promise(() => rm(directory, { recursive: true, force: true }))
      )
  )
  return { follow, url: (database: string) => `postgres://wac:secret@127.0.0.1:${port}/${database}` }
})

const recipient = (n: number) => `+1202555${String(n).padStart(4, "0")}`

describe("a backup", needed, () => {
  it.live("a restored copy has what was there, delivers its events, and sends no campaign until it is confirmed", () =>
    Effect.gen(function*() {
      const { follow, url: database } = yield* managed
      const hook = yield* receiver
      yield* hook.answerWith(RecordingReceiver.reply(500))
      const environment = { ...checks.unlimited, WAC_MASTER_KEY: masterKey() }
      const commands = yield* guide.blocks("backups.md", "a PostgreSQL server")
      const later = yield* guide.blocks("backups.md", "a PostgreSQL server, later")
      const [dump, archive] = commands as [string, string]
      const [restoreDump, restoreMoment, confirm] = later as [string, string, string]

      const { campaign, first, key, moment, second, third } = yield* Effect.scoped(Effect.gen(function*() {
        const server = yield* ready({ environment: { ...environment, DATABASE_URL: database("wac") } })
        const { key, session, url } = server
        yield* setWebhook({ url, session }, { url: hook.url })
        const sendOne = (n: number) =>
          Effect.map(send({ url, key }, hello(recipient(n))), ({ body }) => body.message_id)
        // due when a copy is restored
        const created = yield* call(`${url}/internal/campaigns`, {
          headers: session,
          body: {
            name: "Soon",
            template: { name: "hello_world", language: "en_US" },
            startAt: checks.timeIn(3_600_000)
          }
        })
        const campaign = `/internal/campaigns/${created.body.id}`
        const act = (verb: string) => call(`${url}${campaign}/${verb}`, { method: "POST", headers: session })
        yield* call(`${url}${campaign}/recipients`, {
          method: "PUT",
          headers: { ...session, "content-type": "application/x-ndjson" },
          body: [1, 2, 3].map((n) => `{"to":"${recipient(n)}"}\n`).join("")
        })
        yield* act("check")
        yield* checks.until(call(`${url}${campaign}`, { headers: session }), ({ body }) => body.status === "ready")
        assert.strictEqual((yield* act("start")).body.status, "scheduled")
        yield* sql(
          database("wac"),
          "update wac.campaigns set state = jsonb_set(state::jsonb, '{startAt}', '0')::json, work_at = 1e15"
        )
        const first = yield* sendOne(11)
        yield* follow(archive)
        yield* checks.until(call(`${url}/readyz`), ({ status }) => status === 200)
        const second = yield* sendOne(12)
        yield* follow(dump)
        // the moment has to be a whole second after the backup
        yield* Effect.sleep("2 seconds")
        const [row] = yield* sql<{ readonly moment: string }>(
          database("wac"),
          "select clock_timestamp()::text as moment"
        )
        const third = yield* sendOne(13)
        return { campaign, first, key, moment: row!.moment, second, third }
      }))
      yield* hook.answerWith(RecordingReceiver.ok)

      const copy = Effect.fnUntraced(function*(name: string) {
        const before = (yield* hook.requests).length
        yield* sql(database(name), "update wac.campaigns set work_at = 0")
        const variables = { ...environment, DATABASE_URL: database(name) }
        const server = yield* ready({ environment: { ...variables, WAC_RESTORED: "true" } })
        const get = call(`${server.url}${campaign}`, { headers: server.session })
        const waiting = yield* checks.until(get, ({ body }) => body.status !== "scheduled")
        assert.deepInclude(waiting.body, { status: "paused", pausedReason: "restored" })
        // a first success brings the retries of a failing webhook forward
        yield* send(server, hello(recipient(14)))
        const delivered = Effect.map(
          hook.requests,
          (all) =>
            new Set(all.slice(before).map(({ body }) => JSON.parse(new TextDecoder().decode(body)).data.message_id))
        )
        yield* checks.until(delivered, (ids) => ids.has(first) && ids.has(second))
        const known = yield* Effect.forEach([first, second, third], (id) => checks.stored({ ...server, key }, id))
        assert.deepStrictEqual(known.map(({ status }) => status), [200, 200, 404])
        assert.strictEqual((yield* get).body.counts.queued, 3)
        return { server, get, variables }
      })

      yield* follow(restoreDump)
      yield* Effect.scoped(copy("wac_restored"))

      yield* follow(restoreMoment, { MOMENT: moment })
      // the log is read to the moment in the background
      yield* checks.until(
        sql<{ readonly recovering: boolean }>(database("wac"), "select pg_is_in_recovery() as recovering"),
        ([row]) => row?.recovering === false
      )
      const { get, variables } = yield* copy("wac")
      const told = yield* guide.run(confirm, {
        replaced: [],
        env: {
          DATABASE_URL: variables.DATABASE_URL,
          WAC_MASTER_KEY: variables.WAC_MASTER_KEY
        }
      })
      assert.include(told, "Soon")
      const done = yield* checks.until(get, ({ body }) => body.status === "completed")
      assert.strictEqual(done.body.counts.queued, 0)
    }).pipe(Effect.scoped))

  it.live("a dump from before a change of the master key starts with both keys, and is refused with the new one alone", () =>
    Effect.gen(function*() {
      const { follow, url: database } = yield* managed
      const [old, present] = [masterKey(), masterKey()]
      const [dump] = yield* guide.blocks("backups.md", "a PostgreSQL server")
      const [restoreDump] = yield* guide.blocks("backups.md", "a PostgreSQL server, later")
      const both = { WAC_MASTER_KEY: present, WAC_MASTER_KEY_PREVIOUS: old }
      /** Starts with both keys, until everything is sealed under the new one. */
      const rotated = Effect.fnUntraced(function*(env: Record<string, string>) {
        const running = yield* processes.start({ ...env, ...both })
        yield* checks.until(Effect.sync(() => running.output.stdout), (text) => text.includes("can be removed"))
        yield* processes.stop(running)
      })

      const original = { DATABASE_URL: database("wac") }
      const first = yield* processes.start({ ...original, WAC_MASTER_KEY: old })
      const { key } = yield* processes.signedIn(first)
      yield* follow(dump!)
      yield* processes.stop(first)
      yield* rotated(original)
      yield* follow(restoreDump!)

      const copy = { DATABASE_URL: database("wac_restored"), WAC_RESTORED: "true" }
      const refused = yield* processes.launch({ ...copy, WAC_MASTER_KEY: present })
      assert.strictEqual((yield* Effect.promise(() => refused.ended)).code, 1)
      assert.match(refused.output.stderr, /\bWAC_MASTER_KEY: expected [^\n]+ in WAC_MASTER_KEY_PREVIOUS\b/)
      yield* rotated(copy)
      // from then on, the copy needs the old key no more
      const { url } = yield* processes.start({ ...copy, WAC_RESTORED: "false", WAC_MASTER_KEY: present })
      assert.strictEqual((yield* send({ url, key }, hello(recipient(15)))).status, 200)
    }).pipe(Effect.scoped))
})
