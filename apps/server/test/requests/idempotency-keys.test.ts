/**
 * Idempotency-Keys of what people change (contract §14): every POST of a session stores its answer.
 */
import { assert, describe, it as test, layer } from "@effect/vitest"
import { Access, Api, EndpointAnnotations } from "@wac/api"
import { Idempotency, KeptAnswer, KeptAnswerStore, Time } from "@wac/core"
import { Fixture as TimeFixture } from "@wac/testkit"
import { Context, Duration, Effect, Fiber } from "effect"
import { Digest } from "effect/crypto"
import * as checks from "../checks.ts"
import { type Answer, call, createKey, isReplayed, ownPage, ready, receiver, setWebhook } from "../harness.ts"

const campaign = { name: "spring", template: { name: "hello_world", language: "en_US" } }

const posts = Object.values(Api.groups).flatMap((group) =>
  Object.values(group.endpoints).filter(({ method }) => method === "POST")
)

/** What makes another thing each time. */
const required = new Set([
  "/internal/api-keys",
  "/internal/messages",
  "/internal/campaigns",
  "/internal/webhook/replays",
  "/internal/members",
  "/internal/templates"
])

describe("the API definition", () => {
  test("the definition requires a key if a repetition would make a second thing, and for every POST under /v1", () => {
    for (const endpoint of posts) {
      assert.strictEqual(
        EndpointAnnotations.has(endpoint, EndpointAnnotations.NeedsIdempotencyKey),
        required.has(endpoint.path) || endpoint.path.startsWith("/v1/"),
        endpoint.path
      )
    }
  })

  test("only an endpoint that a one-time token, a password or a code guards takes no key", () => {
    const none = posts.filter((endpoint) => EndpointAnnotations.useOfKey(endpoint) === "none")
    for (const endpoint of none) {
      const isPublic = Context.get(endpoint.annotations, Access.Access)._tag === "Public"
      assert.isTrue(isPublic || EndpointAnnotations.has(endpoint, EndpointAnnotations.ChecksSecret), endpoint.path)
    }
    assert.deepStrictEqual(none.map(({ path }) => path).sort(), [
      "/internal/factor/confirm",
      "/internal/factor/passkeys",
      "/internal/invitations/accept",
      "/internal/invitations/show",
      "/internal/password/reset",
      "/internal/password/reset-request",
      "/internal/portal",
      "/internal/session",
      "/internal/session/confirm",
      "/internal/session/factor",
      "/internal/session/factor/options",
      "/internal/setup"
    ])
  })
})

layer(checks.Served.layer({ environment: checks.unlimited }), checks.live)("Idempotency-Keys of sessions", (it) => {
  const post = Effect.fnUntraced(function*(path: string, body: unknown, key: string = crypto.randomUUID()) {
    const { session, url } = yield* checks.Served
    return yield* call(`${url}/internal/${path}`, {
      method: "POST",
      headers: { ...session, "idempotency-key": key },
      ...(body === undefined ? {} : { body })
    })
  })

  const count = Effect.fnUntraced(function*(path: string) {
    const { session, url } = yield* checks.Served
    return (yield* call(`${url}/internal/${path}?limit=100`, { headers: session })).body.data.length as number
  })

  const assertReplay = (again: Answer, first: Answer) => {
    assert.deepStrictEqual([again.status, again.body], [first.status, first.body])
    assert.isTrue(isReplayed(again))
    assert.isFalse(isReplayed(first))
  }

  it.effect("two posts with one key make one campaign, and get one answer", () =>
    Effect.gen(function*() {
      const before = yield* count("campaigns")
      const key = crypto.randomUUID()
      const first = yield* post("campaigns", campaign, key)
      assert.strictEqual(first.status, 201)
      assertReplay(yield* post("campaigns", campaign, key), first)
      // the order of fields is no other body, nor is a quoted key another one
      assertReplay(yield* post("campaigns", { template: campaign.template, name: campaign.name }, `"${key}"`), first)
      assert.strictEqual(yield* count("campaigns"), before + 1)
      checks.assertError(yield* post("campaigns", { ...campaign, name: "other" }, key), 409, {
        code: "idempotency_conflict",
        reason: "payload_mismatch"
      })
      assert.strictEqual((yield* post("campaigns", campaign)).status, 201)
      assert.strictEqual(yield* count("campaigns"), before + 2)
    }))

  it.effect("two posts with one key make one replay", () =>
    Effect.gen(function*() {
      const { session, url } = yield* checks.Served
      const { url: receiving } = yield* receiver
      yield* setWebhook({ url, session }, { url: receiving })
      const body = { since: "2026-01-01T00:00:00.000Z" }
      const key = crypto.randomUUID()
      const [first, second] = yield* Effect.all([
        post("webhook/replays", body, key),
        post("webhook/replays", body, key)
      ], { concurrency: "unbounded" })
      assert.deepStrictEqual([first.status, second.status], [201, 201])
      assert.strictEqual(first.body.id, second.body.id)
      assert.lengthOf([first, second].filter(isReplayed), 1)
      assert.strictEqual(yield* count("webhook/replays"), 1)
    }))

  it.effect("a repeated response shows no secret, and nothing is rotated or invited twice", () =>
    Effect.gen(function*() {
      const { session, url } = yield* checks.Served
      const { url: receiving } = yield* receiver
      yield* setWebhook({ url, session }, { url: receiving })
      const key = crypto.randomUUID()
      const { body: { signingSecret, ...rotated }, status } = yield* post("webhook/rotate-secret", {}, key)
      assert.match(signingSecret, /^whsec_/)
      const again = yield* post("webhook/rotate-secret", {}, key)
      assert.deepStrictEqual([again.status, again.body], [status, rotated])
      assert.isTrue(isReplayed(again))

      const person = { email: "new@example.com", role: "member" }
      const { body: { inviteUrl, ...invited } } = yield* post("members", person, key)
      assert.include(inviteUrl, url)
      assert.deepStrictEqual((yield* post("members", person, key)).body, invited)
    }))

  it.effect("one key of two people makes two API keys, and again of each person none", () =>
    Effect.gen(function*() {
      const { session, url } = yield* checks.Served
      const email = "second@example.com"
      const { body: { inviteUrl } } = yield* post("members", { email, role: "developer" })
      const password = "correct horse battery staple"
      const joined = yield* call(`${url}/internal/invitations/accept`, {
        headers: ownPage,
        body: { token: /token=(\w+)$/.exec(inviteUrl)![1]!, password }
      })
      assert.strictEqual(joined.status, 200, joined.text)
      const second = { ...ownPage, cookie: joined.headers.getSetCookie()[0]!.split(";")[0]! }
      const key = crypto.randomUUID()
      const create = (headers: { readonly [name: string]: string }) =>
        call(`${url}/internal/api-keys`, { headers: { ...headers, "idempotency-key": key }, body: { name: "one" } })
      const [mine, theirs] = [yield* create(session), yield* create(second)]
      assert.deepStrictEqual([mine.status, theirs.status], [201, 201])
      assert.notStrictEqual(mine.body.id, theirs.body.id)
      for (const [headers, first] of [[session, mine], [second, theirs]] as const) {
        const again = yield* create(headers)
        assert.deepStrictEqual([again.body.id, again.body.apiKey, isReplayed(again)], [first.body.id, undefined, true])
      }
    }))

  it.effect("a refusal binds nothing: the same key is judged anew, with any body", () =>
    Effect.gen(function*() {
      const key = crypto.randomUUID()
      checks.assertInvalid(yield* post("campaigns", { name: "no template" }, key), "missing_field", "template")
      checks.assertInvalid(yield* post("campaigns", "{", key), "malformed_json")
      const made = yield* post("campaigns", campaign, key)
      assert.deepStrictEqual([made.status, isReplayed(made)], [201, false])
      // at another route, it is another key
      checks.assertError(yield* post(`campaigns/${made.body.id}/start`, undefined, key), 403, {
        code: "forbidden",
        reason: "campaign_state"
      })
    }))

  it.effect("every POST of a session refuses a malformed key, and those that make something a missing one", () =>
    Effect.gen(function*() {
      const { session, url } = yield* checks.Served
      for (const endpoint of posts.filter(({ path }) => path.startsWith("/internal/"))) {
        if (EndpointAnnotations.useOfKey(endpoint) === "none") continue
        const ask = (headers: { readonly [name: string]: string }) =>
          Effect.promise(async () => {
            const response = await fetch(url + endpoint.path.replace(":id", checks.nobody), {
              method: "POST",
              headers: { ...session, "content-type": "application/json", ...headers },
              ...(endpoint.payload.size > 0 ? { body: "{}" } : {})
            })
            return (await response.json() as { readonly error: { readonly reason?: string } }).error.reason
          })
        assert.strictEqual(yield* ask({ "idempotency-key": "a b" }), "invalid_idempotency_key", endpoint.path)
        if (required.has(endpoint.path)) assert.strictEqual(yield* ask({}), "missing_idempotency_key", endpoint.path)
      }
    }))

  it.effect("what was done is in the audit once, however often it was asked for", () =>
    Effect.gen(function*() {
      const key = crypto.randomUUID()
      const { body } = yield* post("campaigns", campaign, key)
      yield* post("campaigns", campaign, key)
      const { session, url } = yield* checks.Served
      const audit = yield* call(`${url}/internal/audit?limit=100`, { headers: session })
      assert.lengthOf(audit.body.data.filter(({ target }: { readonly target: string }) => target === body.id), 1)
    }))
})

describe("a request that another server works on", () => {
  /** A server, and a request under a key that another server has claimed at a time of this one's clock. */
  const claimedElsewhere = (ago: number) =>
    Effect.gen(function*() {
      const { services, session, url } = yield* ready({ environment: checks.unlimited })
      const store = Context.get(services, KeptAnswerStore.KeptAnswerStore)
      const person = (yield* call(`${url}/internal/session`, { headers: session })).body
      const key = crypto.randomUUID()
      const place: KeptAnswer.Place = {
        workspaceId: person.workspaceId,
        caller: `${person.userId} ${person.email}`,
        route: "POST /internal/campaigns",
        key: Idempotency.IdempotencyKey.make(key)
      }
      const fingerprint = yield* Effect.provideContext(
        Digest.Digest.use((digest) => Idempotency.fingerprint(digest, campaign)),
        services
      )
      const claim = yield* store.claim(
        place,
        { fingerprint, token: "another server", isRepeatable: false },
        checks.now() - ago
      )
      assert.strictEqual(claim._tag, "Claimed")
      return {
        post: (body: unknown) =>
          call(`${url}/internal/campaigns`, { headers: { ...session, "idempotency-key": key }, body }),
        settle: (answer: KeptAnswer.Answer | null) => store.settle(place, "another server", answer, checks.now()),
        campaigns: Effect.map(
          call(`${url}/internal/campaigns`, { headers: session }),
          ({ body }): number => body.data.length
        )
      }
    }).pipe(Effect.provide(TimeFixture.timeOfAsker))

  test.live("equal requests join it and get its response, while another body is refused immediately", () =>
    Effect.gen(function*() {
      const { campaigns, post, settle } = yield* claimedElsewhere(0)
      const joined = yield* Effect.forkScoped(Effect.all([post(campaign), post(campaign)], { concurrency: 2 }))
      checks.assertError(yield* post({ ...campaign, name: "other" }), 409, {
        code: "idempotency_conflict",
        reason: "payload_mismatch"
      })
      yield* Effect.sleep("300 millis")
      assert.isUndefined(joined.pollUnsafe())
      yield* settle({ status: 201, body: "{\"id\":\"made elsewhere\"}" })
      for (const answer of yield* Fiber.join(joined)) {
        assert.deepStrictEqual([answer.status, answer.body, isReplayed(answer)], [201, { id: "made elsewhere" }, true])
      }
      assert.strictEqual(yield* campaigns, 0)
    }).pipe(Effect.scoped))

  test.live("an equal request takes over, once, if it was refused", () =>
    Effect.gen(function*() {
      const { campaigns, post, settle } = yield* claimedElsewhere(0)
      const joined = yield* Effect.forkScoped(Effect.all([post(campaign), post(campaign)], { concurrency: 2 }))
      yield* Effect.sleep("300 millis")
      yield* settle(null)
      const answers = yield* Fiber.join(joined)
      assert.deepStrictEqual(answers.map(({ status }) => status), [201, 201])
      assert.lengthOf(answers.filter(isReplayed), 1)
      assert.strictEqual(yield* campaigns, 1)
    }).pipe(Effect.scoped))

  test.live("a request is not done twice if its server ended before it responded, and its late response still counts", () =>
    Effect.gen(function*() {
      const { campaigns, post, settle } = yield* claimedElsewhere(Duration.toMillis(KeptAnswer.lease))
      const lost = { code: "server_error", reason: "outcome_unknown" }
      for (let times = 0; times < 2; times++) checks.assertError(yield* post(campaign), 504, lost)
      assert.strictEqual(yield* campaigns, 0)
      yield* settle({ status: 201, body: "{\"id\":\"late\"}" })
      const late = yield* post(campaign)
      assert.deepStrictEqual([late.status, late.body], [201, { id: "late" }])
    }).pipe(Effect.scoped))

  test.live("a batch takes the place of one whose server ended before it answered, and queues no message twice", () =>
    Effect.gen(function*() {
      const { services, session, url } = yield* ready({ environment: checks.unlimited })
      const { apiKey } = yield* createKey(url, session)
      const headers = { authorization: `Bearer ${apiKey}` }
      const person = (yield* call(`${url}/internal/session`, { headers: session })).body
      const batch = {
        messages: [1, 2].map((n) => ({
          idempotency_key: `item ${n}`.replace(" ", "-"),
          to: `+1555123000${n}`,
          type: "template",
          template: { name: "hello_world", language: "en_US" },
          send_at: Time.iso(checks.now() + 3_600_000)
        }))
      }
      const post = (key: string) =>
        call(`${url}/v1/messages/batch`, { headers: { ...headers, "idempotency-key": key }, body: batch })
      // the server that ended had queued all of it
      const before = yield* post("before")
      const fingerprint = yield* Effect.provideContext(
        Digest.Digest.use((digest) => Idempotency.fingerprint(digest, batch)),
        services
      )
      const claim = yield* Context.get(services, KeptAnswerStore.KeptAnswerStore).claim(
        {
          workspaceId: person.workspaceId,
          caller: "keys",
          route: "POST /v1/messages/batch",
          key: Idempotency.IdempotencyKey.make("ended")
        },
        { fingerprint, token: "another server", isRepeatable: false },
        checks.now() - Duration.toMillis(KeptAnswer.lease)
      )
      assert.strictEqual(claim._tag, "Claimed")
      const after = yield* post("ended")
      assert.strictEqual(after.status, 200, after.text)
      const ids = ({ body }: Answer) => body.results.map(({ message_id }: Answer["body"]) => message_id)
      assert.deepStrictEqual(ids(after), ids(before))
      const again = yield* post("ended")
      assert.deepStrictEqual([ids(again), isReplayed(again)], [ids(before), true])
      const { body } = yield* call(`${url}/v1/messages`, { headers })
      assert.lengthOf(body.data, 2)
    }).pipe(Effect.scoped, Effect.provide(TimeFixture.timeOfAsker)))
})
