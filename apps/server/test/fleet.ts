/**
 * Three server processes over one PostgreSQL server of their own, and what is known of their claims of deliveries.
 * Their clocks move when they are told, so that no lease and no deadline ends because the machine is slow.
 */
import { PgClient } from "@effect/sql-pg"
import { AttemptSlots, DeliveryAttempt } from "@wac/core"
import * as PgBouncer from "@wac/testbed/PgBouncer"
import { Context, Duration, Effect, Latch, Layer, Redacted, Scope } from "effect"
import * as checks from "./checks.ts"
import { call, hello, noticed, receiver, send, setWebhook } from "./harness.ts"
import {
  freshDatabase,
  kill,
  masterKey,
  ownPostgresWith,
  signedIn,
  startSteered,
  type Steered,
  stop
} from "./processes.ts"
import { nameOf, upstream } from "./upstream.ts"

/** A process that PostgreSQL knows by its name. */
export interface Named extends Steered {
  readonly name: string
}

/** Has every claim of a delivery written down, with the process that made it, beside the tables of the product. */
const observation = [
  `create table observed_claims (
    delivery_id text, token text, process name, at timestamptz, primary key (delivery_id, token)
  )`,
  `create function observe_claim() returns trigger language plpgsql as $$
    begin
      insert into observed_claims values (new.delivery_id, new.token, current_user, clock_timestamp());
      return null;
    end
  $$`,
  `create trigger observe_claim after insert or update on wac.delivery_claims
    for each row execute function observe_claim()`
]

/** Open claims. Those of dead processes ($1 are the living ones), or from before PostgreSQL's start, nobody may end. */
const claims = `with claims as (
  select k.delivery_id, k.lease_until, o.process = any ($1) and o.at > pg_postmaster_start_time() as living
  from wac.delivery_claims k join observed_claims o using (delivery_id, token)
)`

const quietText = `${claims}, held as (
  select c.delivery_id from claims c where not c.living and c.lease_until > $2
)
select
  (select count(*)::int from claims c where c.living) as living,
  (select count(*)::int from held) as held,
  (
    select count(*)::int from wac.deliveries d
    where d.status = 'pending' and d.next_attempt_at is not null and d.id not in (select h.delivery_id from held h)
  ) as open`

const claimsText = `select o.process, array_agg(d.event_id) as events
from wac.delivery_claims k
join observed_claims o using (delivery_id, token)
join wac.deliveries d on d.id = k.delivery_id
group by o.process order by count(*) desc`

const openText = `select to_json(d) as delivery, to_json(w) as webhook, (
  select json_agg(a order by a.number) from wac.attempts a where a.delivery_id = d.id
) as attempts, (
  select json_agg(k) from wac.delivery_claims k where k.delivery_id = d.id
) as claims
from wac.deliveries d join wac.webhooks w on w.id = d.webhook_id
where d.status = 'pending' order by d.position limit 1`

/** Open claims, with their events, and whether they are from before PostgreSQL's start. */
const claimedText = `select d.event_id, o.at <= pg_postmaster_start_time() as former
from wac.delivery_claims k
join observed_claims o using (delivery_id, token)
join wac.deliveries d on d.id = k.delivery_id`

/** How many looks in a row must find claims of which nobody has been told. */
const looks = 20

const abandonedText = `${claims}
select d.event_id from claims c join wac.deliveries d on d.id = c.delivery_id where not c.living and c.lease_until > $2`

export const make = Effect.gen(function*() {
  const scope = yield* Effect.scope
  // commits are durable; what need not be so at once is written out so late that a crash loses it
  const postgres = yield* ownPostgresWith("fsync=on", "wal_writer_delay=10s")
  const database = yield* freshDatabase(postgres.url)
  const client = Context.get(
    yield* Layer.build(PgClient.layer({ url: Redacted.make(database), maxConnections: 1 })),
    PgClient.PgClient
  )
  const ask = <Row extends object>(text: string, ...params: ReadonlyArray<unknown>) =>
    Effect.orDie(client.unsafe<Row>(text, params))
  const provider = yield* upstream
  const stillAt = checks.now()
  const env = { WAC_MASTER_KEY: masterKey(), TEST_STILL_AT: String(stillAt) }
  let ahead = 0
  let names = 0

  const startOne = Effect.gen(function*() {
    const name = `process_${++names}`
    yield* ask(`create role ${name} superuser login password 'password'`)
    const url = new URL(database)
    url.username = name
    const started = yield* startSteered({ ...env, DATABASE_URL: url.href }, provider.url, ahead)
    return { ...started, name } satisfies Named
  }).pipe(Scope.provide(scope))

  // the first makes the tables that are observed
  const first = yield* startOne
  yield* Effect.forEach(observation, (statement) => ask(statement), { discard: true })
  let alive: ReadonlyArray<Named> = [first, yield* startOne, yield* startOne]
  const signed = yield* signedIn(first)

  /** Answers wait while it is closed. */
  const gate = yield* Latch.make(true)
  const customer = yield* receiver
  yield* customer.answerWith({ _tag: "Reply", status: 200, after: gate.await })
  yield* setWebhook({ url: first.url, session: signed.session }, { url: customer.url })

  let recipients = 0

  /** Sends a message by way of one process, as a client does that repeats what has a key; gives its id. */
  const sendBy = Effect.fnUntraced(function*({ url }: Named) {
    const body = hello(`+1555${8_000_000 + recipients++}`)
    const answer = yield* checks.until(
      send({ url, key: signed.key }, body, { "idempotency-key": body.to }),
      ({ status }) => status !== 503
    )
    return answer.status === 200 ? answer.body.message_id as string : yield* Effect.die(new Error(answer.text))
  })

  /** Upstream tells a process that the message was read, and so that it was delivered. */
  const readBy = (process: Named, messageId: string) =>
    process.order({ _tag: "Report", messageId, providerMessageId: nameOf(messageId), status: "read" })

  const living = () => alive.map(({ name }) => name)
  const now = () => stillAt + ahead

  /** Waits until the living ones have done all that they can before a lease of the dead ends. */
  const quiet = checks.until(
    Effect.suspend(() =>
      Effect.map(
        ask<{ readonly living: number; readonly held: number; readonly open: number }>(quietText, living(), now()),
        ([row]) => row!
      )
    ),
    ({ held, living, open }) => living === 0 && (open === 0 || held >= AttemptSlots.maxInFlight)
  )

  /** The events that were in flight where nobody lives any more, once for each claim. */
  const abandoned = Effect.suspend(() =>
    Effect.map(
      ask<{ readonly event_id: string }>(abandonedText, living(), now()),
      (rows) => rows.map(({ event_id }) => event_id)
    )
  )

  /** The processes that have events on their way, the one with most first. */
  const claims = ask<{ readonly process: string; readonly events: ReadonlyArray<string> }>(claimsText)

  /** Of claims that were made, those that a crash of PostgreSQL has lost; they are told by their tokens. */
  const lost = (tokens: ReadonlyArray<string>) =>
    Effect.map(
      ask<{ readonly token: string }>("select token from observed_claims where token = any ($1)", tokens),
      (rows) => new Set(tokens).size - new Set(rows.map(({ token }) => token)).size
    )

  /** Waits until all of the living reach PostgreSQL. */
  const ready = Effect.suspend(() =>
    Effect.forEach(
      alive,
      ({ url }) => checks.until(call(`${url}/readyz`), ({ status }) => status === 200),
      { discard: true }
    )
  )

  /** The leases of the dead end. Nothing else may be in flight: no answer comes until all clocks agree. */
  const passLease = Effect.gen(function*() {
    const millis = Duration.toMillis(DeliveryAttempt.lease)
    yield* gate.close
    yield* Effect.forEach(alive, (process) => process.order({ _tag: "Advance", millis }), { concurrency: "unbounded" })
    ahead += millis
    yield* gate.open
  })

  /**
   * Waits until nothing is left of what is asked for. PostgreSQL may have stored a claim and ended before it could say
   * so: nobody attempts that delivery until its lease ends, which passes once nothing else is in flight.
   */
  const untilNone = <Row extends object>(text: string, ...params: ReadonlyArray<unknown>) => {
    let untold = 0
    return checks.until(
      Effect.gen(function*() {
        const left = yield* ask<Row>(text, ...params)
        const claimed = yield* ask<{ readonly event_id: string; readonly former: boolean }>(claimedText)
        const arrived = new Set((yield* customer.requests).map(({ headers }) => headers["webhook-id"]))
        const isUntold = claimed.length > 0 && claimed.every(({ event_id, former }) => former && !arrived.has(event_id))
        untold = isUntold ? untold + 1 : 0
        yield* Effect.forEach(alive, ({ url }) => noticed(url), { concurrency: "unbounded" })
        if (untold < looks) return left
        untold = 0
        yield* passLease
        return left
      }),
      ({ length }) => length === 0
    )
  }

  /** Waits until the living ones have recorded all that they were at when PostgreSQL ended. */
  const recovered = Effect.gen(function*() {
    const claimed = yield* ask<{ readonly id: string }>("select delivery_id as id from wac.delivery_claims")
    yield* untilNone(
      "select delivery_id as id from wac.delivery_claims where delivery_id = any ($1)",
      claimed.map(({ id }) => id)
    )
  })

  /** Waits until every delivery has ended; else one that has not is told with what was tried of it, and the webhook. */
  const drained = Effect.suspend(() => untilNone(openText))

  /** A pooler keeps the sessions of a process that has ended. */
  const left = PgBouncer.isEverywhere ? " and state <> 'idle'" : ""

  /** Ends a process; done when PostgreSQL has ended what it had asked for. */
  const end = Effect.fnUntraced(function*(doomed: Named, how: Effect.Effect<void>) {
    yield* how
    alive = alive.filter((one) => one !== doomed)
    yield* checks.until(
      ask(`select pid from pg_stat_activity where usename = '${doomed.name}'${left}`),
      ({ length }) => length === 0
    )
  })

  const killOne = (doomed: Named) => end(doomed, kill(doomed))

  const stopOne = (doomed: Named) => end(doomed, stop(doomed))

  const replaceOne = Effect.map(startOne, (started) => {
    alive = [...alive, started]
  })

  return {
    ...signed,
    postgres,
    ask,
    customer,
    gate,
    alive: () => alive,
    sendBy,
    readBy,
    quiet,
    abandoned,
    claims,
    lost,
    ready,
    recovered,
    drained,
    passLease,
    killOne,
    stopOne,
    replaceOne
  }
})
