/**
 * The operator's commands for messages, and for the queue after a restore (contract §15).
 */
import { assert, it } from "@effect/vitest"
import { Message } from "@wac/core"
import { Effect } from "effect"
import { holdQueues, timeIn, until, workspaceOf } from "../checks.ts"
import { resultOf, wac } from "../commandLine.ts"
import { call, createKey, hello, signIn, start } from "../harness.ts"
import { freshDatabase, masterKey, postgres, sql } from "../processes.ts"

type Shown = { readonly [name: string]: string }

const served = Effect.fnUntraced(function*() {
  const env = { DATABASE_URL: yield* Effect.flatMap(postgres, freshDatabase), WAC_MASTER_KEY: masterKey() }
  const { services, url } = yield* start({ environment: env })
  const session = yield* signIn(url)
  const { apiKey } = yield* createKey(url, session)
  return {
    env,
    services,
    url,
    session,
    queue: (name: string, body: object) =>
      call(`${url}/v1/messages`, {
        headers: {
          authorization: `Bearer ${apiKey}`,
          "idempotency-key": name,
          prefer: "respond-async"
        },
        body
      })
  }
})

/** Starts and pauses a campaign with two recipients. Returns its id. */
const pausedCampaign = Effect.fnUntraced(function*(
  { session, url }: Pick<Effect.Success<ReturnType<typeof served>>, "session" | "url">
) {
  const created = yield* call(`${url}/internal/campaigns`, {
    headers: session,
    body: {
      name: "Later",
      template: { name: "hello_world", language: "en_US" },
      startAt: timeIn(3_600_000),
      share: 0.9
    }
  })
  const place = `${url}/internal/campaigns/${created.body.id}`
  const act = (verb: string) => call(`${place}/${verb}`, { method: "POST", headers: session })
  yield* call(`${place}/recipients`, {
    method: "PUT",
    headers: { ...session, "content-type": "application/x-ndjson" },
    body: `{"to":"+12025550001"}\n{"to":"+12025550002"}\n`
  })
  yield* act("check")
  yield* until(call(place, { headers: session }), ({ body }) => body.status === "ready")
  yield* act("start")
  assert.strictEqual((yield* act("pause")).body.status, "paused")
  return created.body.id as string
})

it.live("an operator finds, shows, cancels and retries messages, and the audit names each change", () =>
  Effect.gen(function*() {
    const { env, queue, session, url } = yield* served()
    const run = wac(env, "messages")
    const find = (flags: string) =>
      Effect.map(run(`find ${flags} --json`), (ended) => resultOf(ended).messages as ReadonlyArray<Shown>)
    assert.strictEqual((yield* run("find")).stdout, "no message was found")

    const sendAt = timeIn(3_600_000)
    const later = yield* queue("later", { ...hello(), client_reference: "order-1", send_at: sendAt })
    const id = later.body.message_id
    const [queued] = yield* find("--status queued --reference order-1 --to +15551234567")
    assert.deepInclude(queued, { messageId: id, status: "queued", sendAt })
    assert.match(
      (yield* run(`show ${id}`)).stdout,
      new RegExp(`^${id} {2}queued {2}template .*, to be sent ${sendAt}$`)
    )
    assert.deepInclude(resultOf(yield* run(`cancel ${id} --json`)), { messageId: id, status: "cancelled" })
    assert.deepInclude(resultOf(yield* run(`show ${id} --json`)), { status: "cancelled" })
    const refused = yield* run(`retry ${id}`)
    assert.strictEqual(refused.code, `${id} is cancelled: only a failed message is retried`)

    // no window is open, which is judged when it is sent
    const text = yield* queue("text", { to: "+15551234567", type: "text", text: { body: "Hello?" } })
    const [failed] = yield* until(find("--status failed"), ({ length }) => length === 1)
    assert.strictEqual(failed!["messageId"], text.body.message_id)
    const retried = resultOf(yield* run(`retry ${text.body.message_id} --json`))
    // the server may have sent it by now
    assert.strictEqual(retried.failed, text.body.message_id)
    assert.notStrictEqual(retried.messageId, text.body.message_id)
    // however often it is repeated
    assert.strictEqual(resultOf(yield* run(`retry ${text.body.message_id} --json`)).messageId, retried.messageId)
    yield* until(find("--status failed"), ({ length }) => length === 2)
    assert.strictEqual(
      (yield* run(`retry ${text.body.message_id}`)).stdout,
      `${text.body.message_id} was retried before: ${retried.messageId} took its place, and is failed; ` +
        `to send that again: wac messages retry ${retried.messageId}`
    )
    const all = yield* find("--status failed")
    const first = yield* run("find --status failed --limit 1")
    assert.deepStrictEqual([first.code, first.stderr], [0, "more than 1: give --limit, or narrow the search"])
    assert.notInclude(first.stdout, all[1]!["messageId"]!)
    for (const [limit, hasMore] of [[1, true], [2, false]] as const) {
      assert.deepStrictEqual(resultOf(yield* run(`find --status failed --limit ${limit} --json`)), {
        messages: all.slice(0, limit),
        hasMore
      })
    }
    assert.include(`${(yield* run(`cancel ${retried.messageId}`)).code}`, "it failed")

    const { body } = yield* call(`${url}/internal/audit`, { headers: session })
    const entries = (body.data as ReadonlyArray<Shown>).map((
      { action, by, detail, target }
    ) => [action, by, detail, target])
    assert.deepInclude(entries, ["message.cancel", null, null, id])
    assert.deepStrictEqual(
      entries.filter(([action]) => action === "message.retry"),
      [["message.retry", null, { failed: text.body.message_id }, retried.messageId]]
    )
  }).pipe(Effect.scoped))

it.live("an operator finds queued messages of callers behind those of a paused campaign", () =>
  Effect.gen(function*() {
    const { env, queue, session, url } = yield* served()
    const queued = yield* queue("one", { ...hello(), send_at: timeIn(3_600_000) })
    const campaign = yield* pausedCampaign({ session, url })
    const run = wac(env, "messages")
    const all = resultOf(yield* run("find --status queued --json")).messages as ReadonlyArray<
      { readonly campaignId: string | null; readonly messageId: string }
    >
    assert.deepStrictEqual(all.map(({ campaignId }) => campaignId), [campaign, campaign, null])
    assert.deepStrictEqual(resultOf(yield* run("find --status queued --no-campaign --limit 1 --json")), {
      messages: [all[2]],
      hasMore: false
    })
    assert.strictEqual(all[2]!.messageId, queued.body.message_id)
    const lines = (yield* run("find --status queued")).stdout.split("\n")
    assert.deepStrictEqual(lines.map((line) => line.includes(`, of ${campaign}`)), [true, true, false])
  }).pipe(Effect.scoped))

it.live("a message that may have been sent is sent again only if the operator forces it", () =>
  Effect.gen(function*() {
    const { env, queue } = yield* served()
    // the sandbox reports nothing more about this number's messages
    const { body } = yield* queue("unknown", { ...hello(), to: "+15005550003" })
    const id = body.message_id
    const run = wac(env, "messages")
    yield* until(run(`show ${id} --json`), (ended) => resultOf(ended).status === "sent")
    yield* sql(
      env.DATABASE_URL,
      `update wac.messages set status = 'failed', failed_at = status_at, delivery_unknown = true,
        error = '${JSON.stringify(Message.deliveryUnknown)}'`
    )
    const refused = yield* run(`retry ${id}`)
    assert.match(`${refused.code}`, /may have been sent: .*; --force sends it again$/)
    assert.lengthOf(resultOf(yield* run("find --json")).messages, 1)
    const retried = resultOf(yield* run(`retry ${id} --force --json`))
    assert.strictEqual(retried.failed, id)
    assert.notStrictEqual(retried.messageId, id)
    assert.lengthOf(resultOf(yield* run("find --json")).messages, 2)
  }).pipe(Effect.scoped))

/** A database that no server runs on, with a workspace. */
const unserved = Effect.gen(function*() {
  const env = { DATABASE_URL: yield* Effect.flatMap(postgres, freshDatabase), WAC_MASTER_KEY: masterKey() }
  const workspace = yield* Effect.scoped(Effect.gen(function*() {
    const { url } = yield* start({ environment: env })
    return yield* workspaceOf({ session: yield* signIn(url), url })
  }))
  const enqueue = (key: string) =>
    Effect.map(
      sql<{ readonly id: string }>(
        env.DATABASE_URL,
        `select wac.enqueue('${workspace}', '${key}', $json$${JSON.stringify(hello())}$json$::jsonb) as id`
      ),
      ([entry]) => entry!.id
    )
  return { env, workspace, enqueue, run: wac(env, "messages") }
})

it.live("an operator cancels a message that a host enqueued and no process has queued yet", () =>
  Effect.gen(function*() {
    const { enqueue, run } = yield* unserved
    const id = yield* enqueue("one")
    const cancelled = resultOf(yield* run(`cancel ${id} --json`))
    assert.deepInclude(cancelled, { messageId: id, status: "cancelled", type: "template", to: hello().to })
    assert.deepInclude(resultOf(yield* run(`cancel ${id} --json`)), { status: "cancelled" })
  }).pipe(Effect.scoped))

it.live("after a restore a release is refused until the operator has looked at the outbox, where some may wait", () =>
  Effect.gen(function*() {
    const { enqueue, env, run, workspace } = yield* unserved
    const hold = sql(
      env.DATABASE_URL,
      "update wac.heartbeats set held_since = ceil(extract(epoch from clock_timestamp()) * 1000)"
    )
    const id = yield* enqueue("one")
    yield* hold
    const { hasMore, messages } = resultOf(yield* run("outbox --json"))
    assert.isFalse(hasMore)
    assert.deepInclude(messages[0], {
      messageId: id,
      workspaceId: workspace,
      type: "template",
      to: hello().to,
      tries: 0
    })
    assert.match((yield* run("outbox")).stdout, new RegExp(`^${id} {2}template to `))

    const refused = yield* run("confirm --json")
    assert.match(`${refused.code}`, /^1 message in the outbox .* confirm with --force$/)
    assert.deepStrictEqual(JSON.parse(refused.stdout), {
      released: false,
      queues: [{ workspaceId: workspace, queued: 0, enqueued: 1 }]
    })
    resultOf(yield* run(`cancel ${id} --json`))
    assert.strictEqual((yield* run("outbox")).stdout, "the outbox is empty")
    // what was enqueued since is not from before the restore
    yield* sql(env.DATABASE_URL, "select pg_sleep(0.01)")
    yield* enqueue("two")
    assert.deepStrictEqual(resultOf(yield* run("confirm --json")), { released: true, queues: [] })

    yield* enqueue("three")
    yield* hold
    const found = yield* run("outbox --limit 1")
    assert.match(found.stderr, /^more than 1: give --limit, or --after \d+ for those that follow$/)
    assert.match(`${(yield* run("confirm")).code}`, /^2 messages in the outbox/)
    assert.isTrue(resultOf(yield* run("confirm --force --json")).released)
  }).pipe(Effect.scoped))

it.live("an operator lists a long outbox in the order of arrival, and goes on where the last list ended", () =>
  Effect.gen(function*() {
    const { env, run, workspace } = yield* unserved
    // more than is read together
    const entries = yield* sql<{ readonly id: string }>(
      env.DATABASE_URL,
      `select wac.enqueue('${workspace}', 'key-' || n, $json$${JSON.stringify({ ...hello(), client_reference: "one" })}
        $json$::jsonb) as id from generate_series(1, 1003) n`
    )
    const ids = entries.map(({ id }) => id)
    const list = Effect.fnUntraced(function*(flags: string) {
      const { hasMore, messages, next } = resultOf(yield* run(`outbox ${flags} --json`))
      const listed = (messages as ReadonlyArray<Shown>).map(({ messageId }) => messageId)
      return { hasMore, listed, messages, next }
    })
    const most = yield* list("--limit 1002")
    assert.deepStrictEqual([most.listed, most.hasMore], [ids.slice(0, 1002), true])
    assert.deepInclude(most.messages[0], { to: hello().to, type: "template", from: null, clientReference: "one" })
    const rest = yield* list(`--after ${most.next}`)
    assert.deepStrictEqual([rest.listed, rest.hasMore, rest.next], [ids.slice(1002), false, null])
    const all = yield* list("--limit 1003")
    assert.deepStrictEqual([all.listed, all.hasMore, all.next], [ids, false, null])
    const misplaced = yield* run("outbox --after one")
    assert.strictEqual(misplaced.code, 1)
    assert.include(misplaced.stderr, "after")
  }).pipe(Effect.scoped))

it.live("after a restore queued messages wait until an operator confirms, and requests are sent meanwhile", () =>
  Effect.gen(function*() {
    const { env, queue, services } = yield* served()
    yield* holdQueues({ services })
    const run = wac(env, "messages")
    const queued = yield* queue("later", hello())
    const status = Effect.map(run(`show ${queued.body.message_id} --json`), (ended) => resultOf(ended).status)
    assert.strictEqual(yield* status, "queued")
    const { queues, released } = resultOf(yield* run("confirm --json"))
    assert.isTrue(released)
    assert.deepStrictEqual(queues.map(({ queued }: { readonly queued: number }) => queued), [1])
    yield* until(status, (now) => now === "sent" || now === "delivered" || now === "read")
    assert.strictEqual((yield* run("confirm")).stdout, "the queue is not held")
  }).pipe(Effect.scoped))
