/**
 * What Meta posts, by the thousand: answered at once, processed fully afterwards, once, also when the process dies in
 * between; and what is not Meta's, or is too much, changes nothing.
 */
import { assert, layer } from "@effect/vitest"
import { InboundPost, InboundRunner } from "@wac/core"
import { RecordingReceiver } from "@wac/testkit"
import { Context, Duration, Effect, Layer } from "effect"
import { createHash, createHmac } from "node:crypto"
import * as checks from "../checks.ts"
import { call } from "../harness.ts"
import { kill, type Listening, sql } from "../processes.ts"
import { processes } from "./whatsapp-processes.ts"
import { accepted, path, template } from "./whatsapp.ts"

/** Updates in one post, at most, as Meta says. */
const most = 1_000

/** How long a post may wait for its answer, in milliseconds; that of Meta itself is patient for seconds. */
const atMost = 250

class Posting extends Context.Service<Posting, Effect.Success<typeof processes>>()(
  "@wac/server/test/whatsapp/whatsapp-posts.test/Posting"
) {
  static readonly layer = Layer.effect(Posting, processes)
}

interface Post {
  readonly body: Uint8Array
  readonly signature: string | undefined
}

/** What upstream would post of all that is done meanwhile, in one post, which goes nowhere. */
const heldBack = <A, R>(done: Effect.Effect<A, never, R>) =>
  Effect.gen(function*() {
    const { api } = yield* Posting
    const receiver = yield* RecordingReceiver.make
    api.courier.post(receiver.url)
    yield* api.configure({ batchMost: most, batchLinger: 1_000 })
    const result = yield* done
    const { body, headers } = yield* receiver.next
    yield* api.courier.settled
    assert.lengthOf(yield* receiver.requests, 1)
    const post: Post = { body, signature: headers["x-hub-signature-256"]! }
    return { result, post }
  }).pipe(Effect.scoped)

/** Posts it; gives how long the answer took too. */
const deliver = ({ url }: Listening, { body, signature }: Post) =>
  Effect.promise(async () => {
    const started = performance.now()
    const response = await fetch(url + path, {
      method: "POST",
      body: new Uint8Array(body),
      headers: {
        "content-type": "application/json",
        ...(signature === undefined ? {} : { "x-hub-signature-256": signature })
      }
    })
    await response.text()
    return { status: response.status, took: performance.now() - started }
  })

/** Customers, each of whom writes some messages; gives their names. */
const write = (count: number, prefix: string) =>
  Effect.flatMap(
    Posting,
    ({ api }) =>
      Effect.orDie(Effect.forEach(
        Array.from({ length: count }, (_, i) => i),
        (i) => api.receive({ from: `${prefix}${String(i % 250).padStart(4, "0")}`, text: `№ ${i} – olá` })
      ))
  )

/** Everything that can have changed. */
const state = Effect.flatMap(Posting, ({ database }) =>
  Effect.map(
    sql<{ readonly name: string; readonly count: number }>(
      database,
      `select 'posts' as name, count(*)::int from wac.inbound_posts
      union all select 'due', count(*)::int from wac.inbound_posts where due_at is not null
      union all select type, count(*)::int from wac.events group by type
      union all select 'message ' || status, count(*)::int from wac.messages group by status
      union all select 'contacts', count(*)::int from wac.contacts`
    ),
    (rows): { readonly [name: string]: number } => Object.fromEntries(rows.map(({ count, name }) => [name, count]))
  ))

const processed = Effect.flatMap(
  Posting,
  (posting) => checks.until(Effect.provideService(state, Posting, posting), ({ due }) => due === 0)
)

/** When a post came and when it was processed, by the process's clock. */
const timesOf = Effect.fnUntraced(function*({ body }: Post) {
  const { database } = yield* Posting
  const digest = createHash("sha256").update(body).digest("hex")
  const [row, ...more] = yield* sql<{ readonly received_at: number; readonly expires_at: number }>(
    database,
    `select received_at::float8, expires_at::float8 from wac.inbound_posts where encode(digest, 'hex') = '${digest}'`
  )
  assert.deepStrictEqual(more, [])
  return {
    receivedAt: row!.received_at,
    processedAt: row!.expires_at - Duration.toMillis(InboundPost.keptFor)
  }
})

layer(Posting.layer, { excludeTestServices: true })("Meta's posts", (it) => {
  it.effect(
    `posts of ${most} updates get their response within ${atMost} ms, are processed fully, and change nothing when repeated`,
    () =>
      Effect.gen(function*() {
        const { api, key, start } = yield* Posting
        const process = yield* start()
        const half = most / 2
        const ids = yield* Effect.forEach(
          Array.from({ length: half }, (_, i) => i),
          (i) => accepted({ url: process.url, key }, template(`+1202555${String(i).padStart(4, "0")}`)),
          { concurrency: 16 }
        )
        const before = yield* state
        assert.strictEqual(before["message.sent"], half)

        const { post, result: names } = yield* heldBack(
          Effect.gen(function*() {
            yield* Effect.orDie(Effect.forEach(ids, (message) => api.tell({ message, status: "read" })))
            return yield* write(half, "+1303555")
          })
        )
        const answer = yield* deliver(process, post)
        assert.strictEqual(answer.status, 200)
        const after = yield* processed
        const { processedAt, receivedAt } = yield* timesOf(post)
        yield* Effect.logInfo(
          `${most} updates in ${post.body.length} bytes: answered after ${Math.round(answer.took)} ms, ` +
            `processed ${processedAt - receivedAt} ms after they came`
        )
        assert.deepStrictEqual(after, {
          posts: 1,
          due: 0,
          "message.sent": half,
          "message.delivered": half,
          "message.read": half,
          "message.received": half,
          "message read": half,
          contacts: 250
        })
        const received = yield* call(`${process.url}/v1/events?type=message.received&limit=100`, {
          headers: { authorization: `Bearer ${key.apiKey}` }
        })
        assert.includeMembers(
          [...names],
          received.body.data.map(({ data }: { readonly data: { readonly provider_message_id: string } }) =>
            data.provider_message_id
          )
        )

        assert.strictEqual((yield* deliver(process, post)).status, 200)
        assert.deepStrictEqual(yield* processed, after)
        // other bytes, with the same in them: as upstream does when it batches anew
        const anew = Buffer.from(JSON.stringify(JSON.parse(Buffer.from(post.body).toString())))
        const second = yield* deliver(process, { body: anew, signature: api.courier.sign(anew) })
        assert.strictEqual(second.status, 200)
        assert.deepStrictEqual(yield* processed, { ...after, posts: 2 })

        // of the two the one that the machine's other work was less in the way of
        assert.isAtMost(Math.min(answer.took, second.took), atMost)
      }).pipe(Effect.scoped)
  )

  it.effect(
    "forged, altered or oversized posts, and posts about foreign numbers, change nothing",
    () =>
      Effect.gen(function*() {
        const { api, start } = yield* Posting
        const process = yield* start()
        const { post } = yield* heldBack(write(3, "+1404555"))
        const before = yield* state
        const text = Buffer.from(post.body).toString()
        const signature = post.signature!
        const signedBy = (secret: string, algorithm = "sha256") =>
          `${algorithm}=${createHmac(algorithm, secret).update(post.body).digest("hex")}`
        const padded = Buffer.from(text.padEnd(4 * 1024 * 1024 + 1, " "))
        const refused: ReadonlyArray<readonly [status: number, post: Post]> = [
          [401, { ...post, signature: undefined }],
          [401, { ...post, signature: "" }],
          [401, { ...post, signature: signature.slice("sha256=".length) }],
          [401, { ...post, signature: `${signature}0` }],
          [401, { ...post, signature: signedBy("another-secret") }],
          [401, { ...post, signature: signedBy("") }],
          [401, { ...post, signature: signedBy(api.identity.appSecret, "sha1") }],
          [401, { ...post, signature: api.courier.sign(Buffer.from(`${text} `)) }],
          [401, { body: Buffer.from(`${text} `), signature }],
          [401, { body: Buffer.from(text.replace("olá", "ola").replace("ol\\u00e1", "ol\\u00e0")), signature }],
          [401, { body: Buffer.from(text.replace("14045550000", "14045550009")), signature }],
          [413, { body: padded, signature: api.courier.sign(padded) }]
        ]
        for (const [status, each] of refused) {
          assert.notDeepEqual([each.body.toString(), each.signature], [text, signature])
          assert.strictEqual((yield* deliver(process, each)).status, status, each.signature)
        }
        assert.deepStrictEqual(yield* state, before)

        // signed, and about a number and an account that are not ours
        const others = Buffer.from(
          text.replaceAll(api.identity.numbers[0].id, "999").replaceAll(api.identity.account, "998")
        )
        assert.strictEqual((yield* deliver(process, { body: others, signature: api.courier.sign(others) })).status, 200)
        assert.deepStrictEqual(yield* processed, { ...before, posts: before["posts"]! + 1 })

        assert.strictEqual((yield* deliver(process, post)).status, 200)
        const after = yield* processed
        assert.strictEqual(after["message.received"], before["message.received"]! + 3)
      }).pipe(Effect.scoped)
  )

  it.effect("acknowledged posts are processed even if the process is killed immediately", () =>
    Effect.gen(function*() {
      const { pass, proxy, start, startByProxy } = yield* Posting
      const doomed = yield* startByProxy
      const { post } = yield* heldBack(write(most, "+1505555"))
      const before = yield* state
      // however fast it is, it does not come to the end
      const reached = proxy.stopAt("insert into wac.inbound_messages", "sent")
      assert.strictEqual((yield* deliver(doomed, post)).status, 200)
      yield* Effect.promise(() => reached)
      yield* kill(doomed)
      const left = yield* state
      assert.strictEqual(left["due"], 1)
      assert.isBelow(left["message.received"]!, before["message.received"]! + most)
      yield* pass(InboundRunner.lease)
      yield* start()
      const after = yield* processed
      assert.deepStrictEqual(after, {
        ...before,
        posts: before["posts"]! + 1,
        contacts: before["contacts"]! + 250,
        "message.received": before["message.received"]! + most
      })
    }).pipe(Effect.scoped))
})
