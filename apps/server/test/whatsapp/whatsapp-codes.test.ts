/**
 * Every error code of the Cloud API, as the answer to a send and as a report that comes later: what the caller is told,
 * what is stored, what a retry with the same key does, and what follows for other messages.
 */
import { assert, layer } from "@effect/vitest"
import * as DocumentedCodes from "@wac/testbed/DocumentedCodes"
import { Duration, Effect } from "effect"
import * as checks from "../checks.ts"
import { type Answer, call, isReplayed, pages, send } from "../harness.ts"
import { withKey } from "../processes.ts"
import { accepted, anyone, generous, silent, template, World } from "./whatsapp.ts"

/** For how many minutes a block keeps a number from sending before it is tried again. */
const blockedFor: { readonly [reason: string]: number } = {
  credentials: 1,
  registration: 5,
  payment: 5,
  quality: 60,
  restricted: 60,
  display_name: 60
}

const statuses: { readonly [error: string]: number } = {
  invalid_body: 400,
  forbidden: 403,
  rate_limited: 429,
  server_error: 502
}

/** The field at fault, where upstream says enough to name it. */
const params: { readonly [reason: string]: string } = {
  undeliverable: "to",
  template_params_mismatch: "template.bodyParams"
}

const codes: ReadonlyArray<DocumentedCodes.Documented> = [
  ...DocumentedCodes.all,
  {
    code: 299,
    error: "server_error",
    reason: "provider_error",
    retryAfter: null,
    effect: "block number credentials"
  },
  // nobody has documented it; the status says that the request was at fault
  { code: 999_999, error: "forbidden", reason: "provider_policy", retryAfter: null, effect: undefined }
]

/** An answer with 400 or 403 is final; one with 429 or 502 says that nothing was sent, and a retry asks again. */
const isFinal = ({ error }: DocumentedCodes.Documented): boolean => error === "invalid_body" || error === "forbidden"

/** What upstream says beside the code. */
const details = "Why it is so, in Meta's words."

/** The error that both the answer and the stored message hold. */
const assertTold = (told: Answer["body"], { code, error, reason }: DocumentedCodes.Documented): void => {
  assert.deepInclude(told, { code: error, reason }, `${code}`)
  assert.strictEqual(told.provider.code, `${code}`)
  assert.isTrue(told.provider.message.endsWith(`: ${details}`), told.provider.message)
}

const assertAnswer = (answer: Answer, documented: DocumentedCodes.Documented): void => {
  const { code, error, reason, retryAfter } = documented
  assert.strictEqual(answer.status, statuses[error], `${code}: ${answer.text}`)
  assertTold(answer.body.error, documented)
  assert.strictEqual(answer.body.error.param, params[reason], `${code}`)
  assert.strictEqual(answer.headers.get("retry-after"), retryAfter === null ? null : `${retryAfter}`)
  checks.assertHeaders(answer)
}

/** A send with a key of its own, to be repeated. */
const sending = (to: string, body: unknown = template(to)) =>
  Effect.map(World, (world) => {
    const key = withKey(crypto.randomUUID())
    return Effect.suspend(() => send(world, body, key))
  })

/** The block is shown, and keeps every send from upstream until it is time to try again. */
const assertBlocked = Effect.fnUntraced(function*({ code }: DocumentedCodes.Documented, reason: string) {
  const world = yield* World
  const shown = yield* world.untilNumber(({ status }) => status === "blocked")
  assert.deepInclude(shown.block, { reason }, `${code}`)
  assert.strictEqual(shown.block.provider.code, `${code}`)
  const lasts = Date.parse(shown.block.until) - Date.parse(shown.block.since)
  assert.strictEqual(lasts, Duration.toMillis(Duration.minutes(blockedFor[reason]!)), `${code}`)
  const to = anyone()
  const refused = yield* send(world, template(to))
  checks.assertError(refused, reason === "credentials" ? 502 : 403, {
    ...(reason === "credentials"
      ? { code: "server_error", reason: "provider_error" }
      : { code: "forbidden", reason: "sender_not_available" }),
    provider: shown.block.provider
  })
  assert.deepStrictEqual(yield* world.callsTo(to), [])
  yield* world.pass(lasts)
})

/** One goes out again, and with it the number is as before. */
const assertRecovered = Effect.gen(function*() {
  const world = yield* World
  yield* accepted(world, template(anyone()))
  const { block } = yield* world.untilNumber(({ status }) => status === "available")
  assert.isNull(block)
})

/** The template goes to nobody any more. */
const assertStopped = Effect.fnUntraced(function*(name: string, status: string) {
  const world = yield* World
  const shown = yield* checks.until(
    call(`${world.url}/v1/templates?name=${name}`, { headers: { authorization: `Bearer ${world.key.apiKey}` } }),
    ({ body }) => body.data[0].status !== "approved"
  )
  assert.strictEqual(shown.body.data[0].status, status)
  const to = anyone()
  checks.assertError(yield* send(world, template(to, name, ["Ana"])), 403, {
    code: "forbidden",
    reason: "template_not_approved",
    param: "template.name"
  })
  assert.deepStrictEqual(yield* world.callsTo(to), [])
})

/** How many pages of templates upstream was asked for. */
const listings = ({ api }: World["Service"]) =>
  Effect.map(api.calls, (calls) => calls.filter(({ path }) => path.includes("/message_templates")).length)

/** What follows for other messages; gives back a service that sends. */
const assertFollows = Effect.fnUntraced(
  function*(documented: DocumentedCodes.Documented, before: number, name: string) {
    const { code, effect } = documented
    const [what, ...words] = effect?.split(" ") ?? []
    switch (what) {
      case "block":
        return yield* assertBlocked(documented, words[1]!)
      case "template":
        return yield* assertStopped(name, words[0]!)
      case "list":
        return yield* checks.until(listings(yield* World), (count) => count > before)
      case "opt":
      case undefined:
        return
      default:
        assert.fail(`${code}: ${what}`)
    }
  }
)

const answered = Effect.fnUntraced(function*(documented: DocumentedCodes.Documented) {
  const { code, effect } = documented
  const world = yield* World
  // templates are listed anew once a minute at most
  yield* world.pass("1 minute")
  const to = anyone()
  const name = code === 132015 ? "notice_15" : code === 132016 ? "notice_16" : "order_update"
  const trial = yield* sending(to, template(to, name, name === "order_update" ? ["Ana", "1042"] : ["Ana"]))
  yield* world.api.behave(to, { refuse: { code, details, times: 1 } })
  const before = yield* listings(world)
  const answer = yield* trial
  assertAnswer(answer, documented)
  assert.isFalse(isReplayed(answer))
  const [first] = yield* world.callsTo(to)
  const id = first!.reference!
  const stored = (yield* checks.stored(world, id)).body
  assert.deepInclude(stored, { to, status: isFinal(documented) ? "failed" : "sending", provider_message_id: null })
  yield* assertFollows(documented, before, name)

  const again = yield* trial
  const calls = yield* world.callsTo(to)
  if (isFinal(documented)) {
    assertTold(stored.error, documented)
    assert.match(stored.failed_at, checks.timeShape)
    assert.isTrue(isReplayed(again), `${code}`)
    assert.strictEqual(again.text, answer.text)
    assert.lengthOf(calls, 1)
  } else {
    assert.isNull(stored.error)
    assert.isNull(stored.failed_at)
    assert.strictEqual(again.status, 200, `${code}: ${again.text}`)
    assert.isFalse(isReplayed(again))
    assert.deepInclude(again.body, { message_id: id })
    assert.deepStrictEqual(calls.map(({ processed, reference }) => [reference, processed]), [[id, false], [id, true]])
    const replayed = yield* trial
    assert.strictEqual(replayed.text, again.text)
    assert.isTrue(isReplayed(replayed))
  }
  assert.strictEqual(yield* world.api.processed(id), isFinal(documented) ? 0 : 1)
  if (effect?.startsWith("block") === true) yield* assertRecovered
  return { id, types: [isFinal(documented) ? "message.failed" : "message.sent"] }
})

const reported = Effect.fnUntraced(function*(documented: DocumentedCodes.Documented, i: number) {
  const { code, effect } = documented
  const world = yield* World
  // upstream's times are whole seconds: what it reports is news to a number that recovered in the second before
  yield* world.pass("1 minute")
  const to = anyone()
  const trial = yield* sending(to)
  yield* world.api.behave(to, { fail: { code, details, afterSent: i % 2 === 0 } })
  yield* world.api.configure({ sentAfter: 0, deliveredAfter: 0 })
  const before = yield* listings(world)
  const answer = yield* trial
  yield* world.api.configure(silent)
  assert.strictEqual(answer.status, 200, `${code}: ${answer.text}`)
  const id: string = answer.body.message_id
  const { body: stored } = yield* checks.untilStatus(world, id, "failed")
  assertTold(stored.error, documented)
  assert.match(stored.failed_at, checks.timeShape)
  assert.strictEqual(stored.provider_message_id, answer.body.provider_message_id)
  // it was accepted, and that is what the send is answered for ever
  const again = yield* trial
  assert.strictEqual(again.text, answer.text, `${code}`)
  assert.isTrue(isReplayed(again))
  assert.lengthOf(yield* world.callsTo(to), 1)
  // a report does not say which template it was: all are listed anew
  const follows = effect?.startsWith("template") === true ? { ...documented, effect: "list" } : documented
  yield* assertFollows(follows, before, "hello_world")
  if (effect?.startsWith("block") === true) yield* assertRecovered
  return { id, types: ["message.sent", "message.failed"] }
})

/** Each message has had exactly these events. */
const assertEvents = Effect.fnUntraced(function*(
  expected: ReadonlyArray<{ readonly id: string; readonly types: ReadonlyArray<string> }>
) {
  const world = yield* World
  const types = new Map<string, Array<string>>()
  for (const { body } of yield* pages(`${world.url}/v1/events`, { authorization: `Bearer ${world.key.apiKey}` })) {
    for (const { data, type } of body.data) types.set(data.message_id, [...types.get(data.message_id) ?? [], type])
  }
  for (const { id, types: each } of expected) assert.deepStrictEqual(types.get(id), each)
})

const world = World.layer({
  environment: checks.unlimited,
  api: { settings: { ...generous, ...silent } }
})

layer(world, { excludeTestServices: true })("every code", (it) => {
  it.effect("each code has its documented effect as the response to a send", () =>
    Effect.flatMap(Effect.forEach(codes, answered), assertEvents))

  it.effect("each code has its documented effect as a later report", () =>
    Effect.flatMap(Effect.forEach(codes, reported), assertEvents))

  it.effect("a code for a customer who wants no marketing stops further marketing to them", () =>
    Effect.gen(function*() {
      const world = yield* World
      const to = anyone()
      const promo = template(to, "promo", ["20 %"])
      yield* world.api.behave(to, { refuse: { code: 131050, details } })
      checks.assertError(yield* send(world, promo), 403, {
        code: "forbidden",
        reason: "opted_out",
        provider: { code: "131050", message: `User has stopped receiving marketing messages: ${details}` }
      })
      const refused = yield* checks.until(
        Effect.suspend(() => send(world, promo)),
        ({ body }) => body.error.provider === undefined
      )
      checks.assertError(refused, 403, { code: "forbidden", reason: "opted_out", param: "to" })
      // what is no marketing still is asked
      yield* world.api.behave(to, {})
      yield* accepted(world, template(to))
    }))

  it.effect("an undocumented code with a server error leaves the outcome unknown", () =>
    Effect.gen(function*() {
      const world = yield* World
      const to = anyone()
      const trial = yield* sending(to)
      yield* world.api.behave(to, { refuse: { code: 999_999, http: 500 } })
      const unknown = { code: "server_error", reason: "outcome_unknown" }
      checks.assertError(yield* trial, 504, unknown)
      checks.assertError(yield* trial, 504, unknown)
      const [call, ...more] = yield* world.callsTo(to)
      assert.deepStrictEqual(more, [])
      assert.strictEqual((yield* checks.stored(world, call!.reference!)).body.status, "unknown")
      yield* world.pass("10 minutes")
      const { body } = yield* checks.untilStatus(world, call!.reference!, "failed")
      assert.deepInclude(body.error, { code: "server_error", reason: "delivery_unknown" })
      checks.assertError(yield* trial, 504, { code: "server_error", reason: "delivery_unknown" })
      assert.lengthOf(yield* world.callsTo(to), 1)
    }))

  const undocumented: ReadonlyArray<
    readonly [
      refused: { readonly http: number; readonly transient?: boolean },
      status: number,
      error: { readonly code: string; readonly reason: string },
      wait: string | null
    ]
  > = [
    [{ http: 429 }, 429, { code: "rate_limited", reason: "provider" }, "60"],
    [{ http: 400, transient: true }, 502, { code: "server_error", reason: "provider_unavailable" }, null],
    [{ http: 401 }, 502, { code: "server_error", reason: "provider_error" }, null]
  ]
  it.effect.each(undocumented)("an undocumented code with %j was not taken, and a retry with the key is sent", (
    [refused, status, error, wait]
  ) =>
    Effect.gen(function*() {
      const world = yield* World
      yield* world.pass("1 minute")
      const to = anyone()
      const trial = yield* sending(to)
      yield* world.api.behave(to, { refuse: { code: 999_999, times: 1, ...refused } })
      const answer = yield* trial
      checks.assertError(answer, status, { ...error, provider: { code: "999999", message: "Unknown error" } })
      assert.strictEqual(answer.headers.get("retry-after"), wait)
      if (refused.http === 401) {
        yield* world.untilNumber(({ status }) => status === "blocked")
        yield* world.pass("1 minute")
      }
      const again = yield* trial
      assert.strictEqual(again.status, 200, again.text)
      assert.isFalse(isReplayed(again))
      assert.strictEqual(yield* world.api.processed(again.body.message_id), 1)
    }))

  it.effect("a code for a message that was not sent makes it fail if no retry comes within a day", () =>
    Effect.gen(function*() {
      const world = yield* World
      const to = anyone()
      yield* world.api.behave(to, { refuse: { code: 130429 } })
      assert.strictEqual((yield* send(world, template(to))).status, 429)
      const [call] = yield* world.callsTo(to)
      yield* world.pass(Duration.minutes(24 * 60 - 1))
      assert.strictEqual((yield* checks.stored(world, call!.reference!)).body.status, "sending")
      yield* world.pass("1 minute")
      const { body } = yield* checks.untilStatus(world, call!.reference!, "failed")
      assert.strictEqual(body.error.reason, "not_sent")
    }))
})
