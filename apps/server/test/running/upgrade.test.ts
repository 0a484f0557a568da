/**
 * An upgrade under load, and the way back: the previous version and this one side by side on one database, replaced one
 * process after the other while callers send, a campaign runs and a receiver gets events. Nothing fails but what a
 * caller repeats, and nothing is lost or doubled (docs/guides/upgrade.md).
 */
import { assert, describe, it } from "@effect/vitest"
import { Migrations, PostgresClient } from "@wac/postgres"
import { CloudApi } from "@wac/simulator"
import * as Clone from "@wac/testbed/Clone"
import * as Extent from "@wac/testbed/Extent"
import { Effect, Exit, Fiber, Redacted, Scope } from "effect"
import { isUnanswered, post, steadily, type Target, target } from "../balancer.ts"
import * as checks from "../checks.ts"
import { call, hello, receiver, setWebhook } from "../harness.ts"
import {
  carryOut,
  emptyDatabase,
  launch,
  type Main,
  masterKey,
  postgres,
  previousVersion,
  signedIn,
  sql,
  start,
  stop
} from "../processes.ts"
import { generous, path } from "../whatsapp/whatsapp.ts"

/** How often it goes forward and back. */
const rounds = Extent.of(1, 5)

/** How many processes serve at a time; while one is replaced, there is one more. */
const processes = Extent.of(1, 2)

const perSecond = Extent.of(20, 50)

const recipients = Extent.of(150, 1500)

/** How long the load runs after each replacement. */
const between = Extent.of("500 millis", "3 seconds")

/** How many answers of other processes each new process is asked for again. */
const repeated = 5

/** The campaign takes a tenth of the number's rate, so that it runs from the beginning to the end. */
const limits = {
  WAC_LIMITS: JSON.stringify({
    phoneNumberTiers: { coexistence: 200, standard: 200, high: 200 },
    pair: { everySeconds: 0.001, burst: 1_000_000 }
  })
}

/**
 * What the version after this one may bring, so that the way back is always to a schema that is newer than the code
 * knows, even if this version brings no migration.
 */
const ofTheNextVersion: Migrations.Migration = {
  name: "of the next version",
  additive: true,
  sql: `
    alter table messages add column of_the_next_version text;
    alter table deliveries add column of_the_next_version integer not null default 7;
    create table of_the_next_version (id bigint primary key);
    comment on table of_the_next_version is 'A table that this version does not know'`
}

interface Sent {
  readonly key: string
  readonly body: unknown
  readonly id: string
  readonly text: string
}

const customer = (n: number) => `+1202555${String(n).padStart(4, "0")}`
const buyer = (n: number) => `+1303${String(n).padStart(7, "0")}`

describe("an upgrade under load, and the way back", Clone.needed, () => {
  it.live(
    "callers see nothing but 503 with Retry-After, and nothing is lost or doubled",
    () =>
      Effect.gen(function*() {
        const previous = yield* previousVersion
        const database = yield* Effect.flatMap(postgres, emptyDatabase)
        const api = yield* Effect.orDie(CloudApi.make({
          settings: { ...generous, sentAfter: null, deliveredAfter: 0, readAfter: null, retryAfter: [200] }
        }))
        const env = {
          ...api.environment,
          ...limits,
          DATABASE_URL: database,
          WAC_MASTER_KEY: masterKey(),
          LOG_LEVEL: "warn"
        }
        let targets: ReadonlyArray<Target & { readonly scope: Scope.Closeable }> = []

        /** A further process, to which the provider posts from now on. */
        const add = Effect.fnUntraced(function*(version?: Main) {
          const scope = yield* Effect.acquireRelease(Scope.make(), (scope) => Scope.close(scope, Exit.void))
          const added = yield* start({ ...env, LOG_LEVEL: "info" }, version).pipe(
            Effect.flatMap(target),
            Scope.provide(scope)
          )
          const { problem } = yield* api.courier.subscribe(added.process.url + path, api.identity.verifyToken)
          assert.isUndefined(problem)
          targets = [...targets, { ...added, scope }]
          return added
        })
        const { process: first } = yield* add(previous)
        yield* Effect.replicateEffect(add(previous), processes - 1)
        const { key: { apiKey }, session } = yield* signedIn(first)
        const hook = yield* receiver
        yield* setWebhook({ url: first.url, session }, { url: hook.url })

        const sent: Array<Sent> = []
        const wrong: Array<string> = []
        /** Repeats a send as a caller does: at the next process without an answer, and after a while where told so. */
        const answer = async (at: (tries: number) => Target, key: string, body: unknown) => {
          for (let tries = 0;; tries++) {
            const outcome = await post(at(tries), apiKey, key, body)
            if (tries === 10) return outcome
            // without an answer nothing was done
            if (isUnanswered(outcome)) continue
            const { retryAfter, status } = outcome
            if (status !== 503 || retryAfter === undefined) return outcome
            await new Promise((resolve) => setTimeout(resolve, retryAfter * 1000))
          }
        }
        const send = async (n: number) => {
          const [key, body] = [crypto.randomUUID(), hello(buyer(n))]
          const outcome = await answer((tries) => targets[(n + tries) % targets.length]!, key, body)
          if (isUnanswered(outcome) || outcome.status !== 200 || outcome.replayed) wrong.push(JSON.stringify(outcome))
          else sent.push({ key, body, id: JSON.parse(outcome.text).message_id, text: outcome.text })
        }
        const all: Array<Promise<void>> = []
        const load = yield* Effect.forkChild(steadily(perSecond, () => void all.push(send(all.length))), {
          startImmediately: true
        })
        const campaign = yield* startCampaign(first.url, session)

        /** A new process, which knows what others were asked; then the oldest is stopped. */
        const replace = Effect.fnUntraced(function*(version?: Main) {
          const added = yield* add(version)
          for (const { body, id, key, text } of sent.slice(-repeated)) {
            const again = yield* Effect.promise(() => answer(() => added, key, body))
            assert.deepInclude(again, { status: 200, replayed: true, text })
            const shown = call(`${added.process.url}/v1/messages/${id}`, {
              headers: { authorization: `Bearer ${apiKey}` }
            })
            yield* checks.until(shown, ({ status }) => status === 200)
          }
          yield* Effect.sleep(between)
          const [oldest, ...others] = targets
          yield* stop(oldest!.process)
          targets = others
          assert.strictEqual(oldest!.process.output.stderr, "")
          yield* Scope.close(oldest!.scope, Exit.void)
        })

        yield* Effect.sleep(between)
        const known = yield* newestVersion(database)
        const migrated = yield* carryOut({ DATABASE_URL: database }, "migrate")
        assert.strictEqual(migrated.code, 0, migrated.stderr)
        yield* Migrations.run([...Migrations.all, ofTheNextVersion]).pipe(
          Effect.provide(PostgresClient.layer({ url: Redacted.make(database) }))
        )
        const isReversible = Migrations.all.slice(known).every(({ additive }) => additive === true)
        for (let round = 0; round < rounds; round++) {
          yield* Effect.replicateEffect(replace(), processes)
          if (isReversible) yield* Effect.replicateEffect(replace(previous), processes)
          else assert.match(yield* refusal(env, previous), /newer than this wac/)
        }
        yield* Fiber.interrupt(load)
        yield* Effect.promise(() => Promise.all(all))
        assert.deepStrictEqual(wrong, [])
        assert.strictEqual(sent.length, all.length)

        const last = targets[0]!.process.url
        const finished = yield* checks.until(
          call(`${last}/internal/campaigns/${campaign}`, { headers: session }),
          ({ body }) => body.status === "completed" && body.counts.delivered === recipients
        )
        assert.deepInclude(finished.body.counts, { total: recipients, failed: 0, skipped: 0, unknown: 0 })

        // each send reached the provider exactly once
        const perCustomer = new Map<string, number>()
        for (const { to } of yield* api.calls) {
          if (to !== undefined) perCustomer.set(to, (perCustomer.get(to) ?? 0) + 1)
        }
        const expected = [
          ...Array.from({ length: recipients }, (_, n) => customer(n)),
          ...all.map((_, n) => buyer(n))
        ]
        assert.deepStrictEqual(new Set(perCustomer.keys()), new Set(expected))
        assert.deepStrictEqual([...perCustomer].filter(([, count]) => count !== 1), [])

        // and the receiver got all of their events; it may get one again
        const events = Effect.map(hook.requests, (requests) => {
          const bodies = requests.map(({ body }) => JSON.parse(new TextDecoder().decode(body)))
          return [...new Map(bodies.map((event) => [event.id, event])).values()]
        })
        const told = yield* checks.until(events, ({ length }) => length >= 2 * expected.length + 1)
        const recipientsOf = (type: string) => told.filter((event) => event.type === type).map(({ data }) => data.to)
        assert.deepStrictEqual(recipientsOf("message.sent").sort(), expected.sort())
        assert.deepStrictEqual(recipientsOf("message.delivered").sort(), expected)
        assert.lengthOf(recipientsOf("campaign.completed"), 1)
        assert.lengthOf(told, 2 * expected.length + 1)
        for (const { process } of targets) yield* stop(process)
      }).pipe(Effect.scoped),
    Extent.of(600_000, 1_200_000)
  )
})

/** Starts a campaign to every customer; gives its id. */
const startCampaign = Effect.fnUntraced(function*(url: string, session: { readonly [name: string]: string }) {
  const ask = (path: string, options: Parameters<typeof call>[1] = {}) =>
    call(`${url}/internal/campaigns${path}`, { ...options, headers: { ...session, ...options?.headers } })
  const created = yield* ask("", {
    body: { name: "All", template: { name: "hello_world", language: "en_US" }, share: 0.1 }
  })
  assert.strictEqual(created.status, 201, created.text)
  const { id } = created.body
  yield* ask(`/${id}/recipients`, {
    method: "PUT",
    headers: { "content-type": "application/x-ndjson" },
    body: Array.from({ length: recipients }, (_, n) => `{"to":"${customer(n)}"}\n`).join("")
  })
  yield* ask(`/${id}/check`, { method: "POST" })
  yield* checks.until(ask(`/${id}`), ({ body }) => body.status === "ready")
  yield* ask(`/${id}/start`, { method: "POST" })
  return String(id)
})

const newestVersion = (database: string) =>
  Effect.gen(function*() {
    // in whichever schema the version before keeps its tables
    const [schema] = yield* sql<{ readonly name: string }>(
      database,
      "select relnamespace::regnamespace::text as name from pg_class where relname = 'schema_versions'"
    )
    const [newest] = yield* sql<{ readonly version: number }>(
      database,
      `select max(version) as version from ${schema!.name}.schema_versions`
    )
    return newest!.version
  })

/** What a version writes that does not start. */
const refusal = Effect.fnUntraced(function*(env: Record<string, string>, version: Main) {
  const { ended, output } = yield* launch(env, version)
  assert.deepStrictEqual(yield* Effect.promise(() => ended), { code: 1, signal: null })
  return output.stderr
}, Effect.scoped)
