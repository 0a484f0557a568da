/**
 * What upstream says of our numbers and templates is in force at once: nobody is sent to in vain, and what is mended
 * sends again.
 */
import { assert, layer } from "@effect/vitest"
import { Id, PhoneNumber, PhoneNumberStore, SenderCredentials, WorkspaceStore } from "@wac/core"
import { CloudApi } from "@wac/simulator"
import { Clock, Duration, Effect, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import * as checks from "../checks.ts"
import { type Answer, call, send } from "../harness.ts"
import { accepted, anyone, generous, path, template, text, World } from "./whatsapp.ts"

const sends = Effect.flatMap(
  World,
  ({ api }) => Effect.map(api.calls, (calls) => calls.filter(({ method }) => method === "POST").length)
)

type Refusal = Parameters<typeof checks.assertError>[2]

/** A send is refused so, and upstream is not asked. */
const assertRefused = Effect.fnUntraced(function*(status: number, error: Refusal, body: unknown = template(anyone())) {
  const world = yield* World
  const before = yield* sends
  checks.assertError(yield* send(world, body), status, error)
  assert.strictEqual(yield* sends, before)
})

/** What upstream has told is in force: sends are answered so from then on. */
const untilAnswered = (body: () => unknown, awaited: (answer: Answer) => boolean) =>
  Effect.flatMap(World, (world) => checks.until(Effect.suspend(() => send(world, body())), awaited))

/** Adds the number of another account to the workspace, with credentials of its own; gives its id. */
const addNumber = ({ identity, url }: CloudApi.CloudApi) =>
  Effect.gen(function*() {
    const [{ display, id: providerNumberId }] = identity.numbers
    const [workspace] = yield* WorkspaceStore.WorkspaceStore.use((store) => store.list)
    const number = PhoneNumber.fresh({
      id: yield* Id.generate(yield* SecureRandom.SecureRandom, "pn"),
      workspaceId: workspace!.id,
      provider: "whatsapp",
      phoneNumber: `+${display.replace(/\D/g, "")}`,
      providerNumberId,
      providerAccountId: identity.account,
      learned: PhoneNumber.unlearned,
      isDefault: false
    })
    assert.isTrue(yield* PhoneNumberStore.PhoneNumberStore.use((store) => store.add(number)))
    const credentials = { accessToken: Redacted.make(identity.accessToken), baseUrl: url }
    yield* SenderCredentials.SenderCredentials.use((own) => own.set(number.id, credentials))
    return number.id
  })

const isSent = ({ status }: Answer) => status === 200

layer(World.layer({ environment: checks.unlimited, api: { settings: generous } }), checks.live)("a number", (it) => {
  it.effect("a number whose token has expired is not used until the token works again", () =>
    Effect.gen(function*() {
      const world = yield* World
      const { accessToken } = world.api.identity
      yield* world.api.acceptTokens(["another"])
      const message = "Error validating access token: The session is invalid or has expired."
      const expired = { code: "server_error", reason: "provider_error", provider: { code: "190", message } }
      checks.assertError(yield* send(world, template(anyone())), 502, expired)
      const blocked = yield* world.untilNumber(({ status }) => status === "blocked")
      assert.deepInclude(blocked.block, { reason: "credentials", provider: expired.provider })
      for (const _ of [1, 2, 3]) yield* assertRefused(502, expired)

      // tried again after a minute, in vain: it is the same block
      yield* world.pass("1 minute")
      const before = yield* sends
      checks.assertError(yield* send(world, template(anyone())), 502, expired)
      assert.strictEqual(yield* sends, before + 1)
      const still = yield* world.untilNumber(({ status }) => status === "blocked")
      assert.strictEqual(still.block.since, blocked.block.since)
      yield* assertRefused(502, expired)

      yield* world.api.acceptTokens([accessToken])
      yield* world.pass("1 minute")
      yield* accepted(world, template(anyone()))
      const well = yield* world.untilNumber(({ status }) => status === "available")
      assert.isNull(well.block)
    }))

  it.effect("a number whose token works again becomes available even without sends", () =>
    Effect.gen(function*() {
      const world = yield* World
      yield* world.pass("1 second")
      yield* world.api.acceptTokens(["another"])
      yield* send(world, template(anyone()))
      yield* world.untilNumber(({ status }) => status === "blocked")
      // the hourly look at it, too, hears that the token is bad, and then that it is good
      yield* world.pass("1 hour")
      yield* world.untilNumber(({ status }) => status === "blocked")
      yield* world.api.acceptTokens([world.api.identity.accessToken])
      yield* world.pass("1 hour")
      yield* world.untilNumber(({ block, status }) => status === "available" && block === null)
    }))

  it.effect("a number that is stopped for its quality sends nothing for an hour", () =>
    Effect.gen(function*() {
      const world = yield* World
      const to = anyone()
      yield* world.api.behave(to, { refuse: { code: 131048, times: 1 } })
      assert.strictEqual((yield* send(world, template(to))).status, 429)
      const { block } = yield* world.untilNumber(({ status }) => status === "blocked")
      assert.strictEqual(block.reason, "quality")
      const refusal = { code: "forbidden", reason: "sender_not_available", provider: block.provider }
      yield* assertRefused(403, refusal)
      // what is named is at fault
      yield* assertRefused(403, { ...refusal, param: "from" }, { ...template(anyone()), from: "+15550783881" })
      yield* world.pass(Duration.minutes(59))
      yield* assertRefused(403, refusal)
      yield* world.pass("1 minute")
      yield* accepted(world, template(anyone()))
      yield* world.untilNumber(({ block }) => block === null)
    }))

  it.effect("a number of a restricted account sends nothing until the date that the provider gives", () =>
    Effect.gen(function*() {
      const world = yield* World
      const hour = 3_600_000
      yield* world.pass("1 second")
      const now = yield* Clock.currentTimeMillis
      const expiration = Math.floor((now + 200 * hour) / 1000)
      yield* world.api.announce("account_update", {
        event: "ACCOUNT_RESTRICTION",
        restriction_info: [{ restriction_type: "RESTRICTED_BIZ_INITIATED_MESSAGING", expiration }]
      })
      const { block } = yield* world.untilNumber(({ status }) => status === "blocked")
      assert.strictEqual(block.reason, "restricted")
      assert.strictEqual(Date.parse(block.until), expiration * 1000)
      yield* assertRefused(403, { code: "forbidden", reason: "sender_not_available", provider: block.provider })
      // upstream takes it back
      yield* world.pass("1 second")
      yield* world.api.announce("account_update", {
        event: "DISABLED_UPDATE",
        ban_info: { waba_ban_state: "REINSTATE" }
      })
      yield* world.untilNumber(({ status }) => status === "available")
      yield* accepted(world, template(anyone()))
    }))

  it.effect("a restricted account whose number may still reply sends no replies once it is banned", () =>
    Effect.gen(function*() {
      const world = yield* World
      const customer = anyone()
      yield* Effect.orDie(world.api.receive({ from: customer }))
      yield* world.quiet
      yield* world.pass("1 second")
      const expiration = Math.floor((yield* Clock.currentTimeMillis) / 1000) + 7 * 86_400
      yield* world.api.announce("account_update", {
        event: "ACCOUNT_RESTRICTION",
        restriction_info: [{ restriction_type: "RESTRICTED_BIZ_INITIATED_MESSAGING", expiration }]
      })
      yield* world.untilNumber(({ block }) => block?.scope === "outside_window")
      yield* accepted(world, text(customer))
      yield* world.pass("2 seconds")
      yield* world.api.announce("account_update", {
        event: "DISABLED_UPDATE",
        ban_info: { waba_ban_state: "DISABLE" }
      })
      const { block } = yield* world.untilNumber(({ block }) => block?.provider.code === "DISABLED_UPDATE")
      assert.strictEqual(block.scope, "all")
      const refusal = { code: "forbidden", reason: "sender_not_available", provider: block.provider }
      yield* assertRefused(403, refusal, text(customer))
      yield* world.pass("1 second")
      yield* world.api.announce("account_update", {
        event: "DISABLED_UPDATE",
        ban_info: { waba_ban_state: "REINSTATE" }
      })
      yield* world.untilNumber(({ status }) => status === "available")
    }))

  it.effect("a flagged number shows its quality and continues to send", () =>
    Effect.gen(function*() {
      const world = yield* World
      assert.strictEqual((yield* world.number).quality, "green")
      yield* Effect.orDie(
        world.api.changeNumber(world.api.identity.numbers[0].id, { status: "FLAGGED", quality_rating: "RED" })
      )
      yield* world.untilNumber(({ quality }) => quality === "red")
      yield* accepted(world, template(anyone()))
    }))
})

const alone = World.layer({ environment: checks.unlimited, api: { settings: generous } })

layer(alone, checks.live)("the alert of a blocked number", (it) => {
  it.effect("the alert of a number whose token has expired is open until a message is accepted, and closes once", () =>
    Effect.gen(function*() {
      const world = yield* World
      const ofKind = (wanted: string) =>
        Effect.map(
          call(`${world.url}/internal/alerts`, { headers: world.session }),
          ({ body }): ReadonlyArray<{ readonly closedAt: string | null }> =>
            body.data.filter(({ kind }: { readonly kind: string }) => kind === wanted)
        )
      const blocked = ofKind("number_blocked")
      const nextLook = Effect.andThen(world.pass("1 minute"), blocked)
      yield* world.api.acceptTokens(["another"])
      assert.strictEqual((yield* send(world, template(anyone()))).status, 502)
      yield* world.untilNumber(({ status }) => status === "blocked")
      yield* checks.until(nextLook, ({ length }) => length === 1)
      for (const _ of [1, 2, 3, 4]) yield* world.pass("1 minute")
      // once this problem has an alert, all were looked at again
      yield* call(`${world.url}/internal/webhook/pause`, { method: "POST", headers: world.session })
      yield* checks.until(
        Effect.andThen(world.pass("1 minute"), ofKind("webhook_paused")),
        ({ length }) => length === 1
      )
      assert.deepStrictEqual((yield* blocked).map(({ closedAt }) => closedAt), [null])

      yield* world.api.acceptTokens([world.api.identity.accessToken])
      yield* accepted(world, template(anyone()))
      yield* checks.until(nextLook, ([alert]) => alert?.closedAt !== null)
      assert.lengthOf(yield* nextLook, 1)
    }))
})

const few = World.layer({
  environment: checks.unlimited,
  api: { settings: generous },
  before: ({ changeNumber, identity }) =>
    changeNumber(identity.numbers[0].id, { whatsapp_business_manager_messaging_limit: "TIER_250" })
})

layer(few, checks.live)("the messaging limit", (it) => {
  it.effect("the messaging limit is the provider's, in unique customers outside a service window", () =>
    Effect.gen(function*() {
      const world = yield* World
      assert.strictEqual((yield* world.number).messagingLimit, 250)
      // upstream's times are whole seconds, and the look at the number was just now
      yield* world.pass("1 second")
      const limited = (limit: number) =>
        Effect.andThen(
          world.api.announce("business_capability_update", { max_daily_conversations_per_business: limit }),
          world.untilNumber(({ messagingLimit }) => messagingLimit === limit)
        )
      yield* limited(2)
      const known = anyone()
      yield* accepted(world, template(known))
      yield* accepted(world, template(anyone()))
      yield* accepted(world, template(known))
      const reached = { code: "forbidden", reason: "messaging_limit_reached" }
      yield* assertRefused(403, reached)
      // customers who wrote do not count
      const writer = anyone()
      yield* Effect.orDie(world.api.receive({ from: writer }))
      yield* untilAnswered(() => text(writer), isSent)
      yield* assertRefused(403, reached)
      yield* world.pass("1 second")
      yield* limited(3)
      yield* accepted(world, template(anyone()))
      yield* assertRefused(403, reached)
      yield* world.pass("1 second")
      yield* Effect.orDie(
        world.api.changeNumber(world.api.identity.numbers[0].id, {
          whatsapp_business_manager_messaging_limit: "TIER_UNLIMITED"
        })
      )
      yield* world.untilNumber(({ messagingLimit }) => messagingLimit === null)
      yield* accepted(world, template(anyone()))
    }))
})

/** A number of two messages at once, and one in a second, until its throughput is raised. */
const slow = { WAC_LIMITS: JSON.stringify({ phoneNumberTiers: { standard: 1, high: 1000 } }) }

layer(World.layer({ environment: slow, api: { settings: { ...generous, upgradeFor: 60_000 } } }), checks.live)(
  "throughput",
  (it) => {
    it.effect("the throughput is the number's, pauses while the provider raises it, and is then higher", () =>
      Effect.gen(function*() {
        const world = yield* World
        assert.deepInclude(yield* world.number, { tier: "standard", messagesPerSecond: 1 })
        yield* accepted(world, template(anyone()))
        yield* accepted(world, template(anyone()))
        const before = yield* sends
        checks.assertError(yield* send(world, template(anyone())), 429, {
          code: "rate_limited",
          reason: "phone_number"
        })
        assert.strictEqual(yield* sends, before)

        yield* world.pass("2 seconds")
        yield* Effect.orDie(world.api.changeNumber(world.api.identity.numbers[0].id, { throughput: { level: "HIGH" } }))
        const waiting = yield* send(world, template(anyone()))
        assert.strictEqual(waiting.status, 502)
        assert.deepInclude(waiting.body.error, { code: "server_error", reason: "provider_unavailable" })
        assert.strictEqual(waiting.headers.get("retry-after"), "60")
        yield* world.pass("1 minute")
        yield* world.untilNumber(({ tier }) => tier === "high")
        assert.strictEqual((yield* world.number).messagesPerSecond, 1000)
        for (let i = 0; i < 20; i++) yield* accepted(world, template(anyone()))
      }))
  }
)

layer(World.layer({ environment: checks.unlimited, api: { settings: generous } }), checks.live)("a template", (it) => {
  const shown = (name: string) =>
    Effect.flatMap(World, ({ key, url }) =>
      Effect.map(
        call(`${url}/v1/templates?name=${name}`, { headers: { authorization: `Bearer ${key.apiKey}` } }),
        ({ body }) => body.data[0]
      ))
  const untilShown = (name: string, status: string) =>
    Effect.flatMap(
      World,
      (world) =>
        checks.until(Effect.provideService(shown(name), World, world), (template) => template?.status === status)
    )
  const notApproved = { code: "forbidden", reason: "template_not_approved", param: "template.name" }

  it.effect("a template that is paused, rejected or disabled is refused until it is approved again", () =>
    Effect.gen(function*() {
      const world = yield* World
      const body = () => template(anyone(), "notice_01", ["Ana"])
      for (const status of ["PAUSED", "REJECTED", "DISABLED"]) {
        yield* accepted(world, body())
        yield* world.pass("1 second")
        yield* world.api.changeTemplate({ name: "notice_01", status, rejectedReason: "PROMOTIONAL" })
        yield* untilShown("notice_01", status.toLowerCase())
        yield* assertRefused(403, notApproved, body())
        yield* world.pass("1 second")
        yield* world.api.changeTemplate({ name: "notice_01", status: "APPROVED", rejectedReason: "NONE" })
        yield* untilShown("notice_01", "approved")
      }
      yield* accepted(world, body())
    }))

  it.effect("a template that becomes marketing is refused for customers who opted out", () =>
    Effect.gen(function*() {
      const world = yield* World
      const to = anyone()
      yield* Effect.orDie(world.api.receive({ from: to, text: "STOP" }))
      const promo = () => template(to, "promo", ["20 %"])
      yield* untilAnswered(promo, ({ status }) => status === 403)
      const notice = template(to, "notice_02", ["Ana"])
      yield* accepted(world, notice)
      yield* world.api.changeTemplate({ name: "notice_02", category: "MARKETING" })
      yield* checks.until(
        Effect.provideService(shown("notice_02"), World, world),
        ({ category }) => category === "marketing"
      )
      yield* assertRefused(403, { code: "forbidden", reason: "opted_out", param: "to" }, notice)
    }))

  it.effect("if a send finds that a template changed at the provider, the templates are listed again", () =>
    Effect.gen(function*() {
      const world = yield* World
      const to = anyone()
      const fresh = () => template(to, "brand_new")
      yield* assertRefused(403, { code: "forbidden", reason: "template_not_found", param: "template.name" }, fresh())
      yield* world.pass("1 minute")
      yield* world.api.changeTemplate({ name: "brand_new", tell: false })
      yield* world.api.changeTemplate({ name: "notice_03", status: "PENDING", tell: false })
      // 132001: upstream knows of no such approved template
      const stale = yield* send(world, template(to, "notice_03", ["Ana"]))
      assert.strictEqual(stale.status, 403)
      assert.deepInclude(stale.body.error, { code: "forbidden", reason: "template_not_found" })
      assert.strictEqual(stale.body.error.provider.code, "132001")
      yield* untilShown("notice_03", "pending")
      yield* assertRefused(403, notApproved, template(to, "notice_03", ["Ana"]))
      yield* accepted(world, fresh())
    }))

  it.effect("a template whose text changed requires the values of the new text", () =>
    Effect.gen(function*() {
      const world = yield* World
      const to = anyone()
      yield* world.pass("1 minute")
      yield* world.api.changeTemplate({
        name: "notice_04",
        components: [{ type: "BODY", text: "A notice to {{1}} of {{2}}." }]
      })
      yield* untilAnswered(() => template(to, "notice_04", ["Ana", "Friday"]), isSent)
      yield* assertRefused(400, {
        code: "invalid_body",
        reason: "template_params_mismatch",
        param: "template.bodyParams"
      }, template(to, "notice_04", ["Ana"]))
    }))

  it.effect("a template that body values cannot fill is refused without a provider call", () =>
    Effect.gen(function*() {
      for (
        const [name, params, param] of [
          ["track_parcel", ["1"], "template.buttons[0].urlSuffix"],
          ["picture_offer", ["Ana"], "template.header.image"],
          ["named_header", ["Ana"], "template.header.text"]
        ] as const
      ) {
        yield* assertRefused(400, {
          code: "invalid_body",
          reason: "template_params_mismatch",
          param
        }, template(anyone(), name, params))
      }
    }))
})

layer(World.layer({ environment: checks.unlimited, api: { settings: generous } }), checks.live)(
  "templates of another account",
  (it) => {
    it.effect("templates are sent only by numbers of their account, and reports about them affect only this account", () =>
      Effect.gen(function*() {
        const world = yield* World
        const other = yield* Effect.orDie(CloudApi.make({
          identity: {
            account: "207180000000001",
            accessToken: "EAAanother",
            numbers: [{ id: "207180000000002", display: "+1 555-078-4881" }]
          },
          settings: generous,
          callback: world.url + path
        }))
        yield* other.changeTemplate({ name: "elsewhere", language: "en_US" })
        const from = yield* addNumber(other).pipe(Effect.provideContext(world.services))
        const synced = yield* call(`${world.url}/internal/templates/sync`, { method: "POST", headers: world.session })
        assert.strictEqual(synced.body.count, (yield* world.api.templates).length + (yield* other.templates).length)
        const elsewhere = template(anyone(), "elsewhere")
        yield* accepted(world, { ...elsewhere, from })
        yield* assertRefused(
          403,
          { code: "forbidden", reason: "template_not_found", param: "template.name" },
          elsewhere
        )
        assert.lengthOf((yield* other.calls).filter(({ processed }) => processed), 1)

        yield* world.pass("1 second")
        yield* other.changeTemplate({ name: "hello_world", language: "en_US", status: "PAUSED" })
        yield* untilAnswered(() => ({ ...template(anyone()), from }), ({ status }) => status === 403)
        yield* accepted(world, template(anyone()))
      }))
  }
)
