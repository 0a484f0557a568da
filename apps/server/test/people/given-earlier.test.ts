/**
 * Authority that was given earlier: what becomes of each right in the record of that decision when the person who made
 * it is demoted or removed.
 */
import { assert, describe, it } from "@effect/vitest"
import { Members, Portals, Provider } from "@wac/core"
import { SandboxProvider } from "@wac/sandbox"
import { Context, Deferred, Duration, Effect, Layer, Redacted, type Scope } from "effect"
import { readFileSync } from "node:fs"
import { listen } from "../changes/listen.ts"
import * as checks from "../checks.ts"
import { call, createKey, hello, ownPage, ready, receiver, send, setWebhook } from "../harness.ts"
import { moving } from "../movable.ts"
import { accept, invite, join, password } from "./joining.ts"
import { mailbox, tokenIn } from "./mailbox.ts"

const how = ["demoted", "removed"] as const

const record = readFileSync(
  new URL("../../../../docs/decisions/0034-authority-given-earlier.md", import.meta.url),
  "utf8"
)

/** The rights that the record decides about: the first column of its table. */
const decided = [...record.matchAll(/^\| ([^|]+?) +\|.*\|$/gm)].map(([, right]) => right!)
  .filter((right) => right !== "Right" && !right.startsWith("---"))

const maker = "maker@example.com"
const team = "ops@example.com"
const alertUrl = "https://example.com/alerts"

/** The customers of the running campaign. */
const held = ["+12025550001", "+12025550002"]

/** A server with an owner, and a second owner who sets up its webhook and alerts. */
const world = Effect.gen(function*() {
  const mail = yield* mailbox
  const customer = yield* receiver
  const [isSending, isChanged] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
  const provider = Layer.effect(
    Provider.Provider,
    Effect.map(Provider.Provider, (sandbox) =>
      Provider.Provider.of({
        ...sandbox,
        send: (command) =>
          held.includes(command.message.to ?? "")
            ? Deferred.succeed(isSending, undefined).pipe(
              Effect.andThen(Deferred.await(isChanged)),
              Effect.andThen(sandbox.send(command))
            )
            : sandbox.send(command)
      }))
  ).pipe(Layer.provide(SandboxProvider.layer))
  const server = yield* moving(ready({
    environment: { ...checks.unlimited, SMTP_URL: mail.url },
    adapters: { provider }
  }))
  const workspaceId = yield* checks.workspaceOf(server)
  const made = yield* join(server.url, server.session, maker, "owner")
  yield* setWebhook({ url: server.url, session: made.headers }, { url: customer.url, eventTypes: ["message.sent"] })
  const alerts = yield* call(`${server.url}/internal/alerts/settings`, {
    method: "PUT",
    headers: made.headers,
    body: { emails: [maker, team], url: alertUrl }
  })
  assert.strictEqual(alerts.status, 200, alerts.text)
  return { ...server, customer, isChanged, isSending, mail, maker: made, workspaceId }
})

type World = Effect.Success<typeof world>

/** Creates a campaign as the maker, and brings it to `ready`. */
const campaign = Effect.fnUntraced(function*(
  { maker, url }: World,
  recipients: ReadonlyArray<string>,
  fields: { readonly [field: string]: unknown } = {}
) {
  const ask = (path: string, options: Parameters<typeof call>[1] = {}) =>
    call(`${url}/internal/campaigns${path}`, { ...options, headers: { ...maker.headers, ...options.headers } })
  const created = yield* ask("", {
    body: { name: "Everyone", template: { name: "hello_world", language: "en_US" }, ...fields }
  })
  assert.strictEqual(created.status, 201, created.text)
  const at = `/${created.body.id}`
  yield* ask(`${at}/recipients`, {
    method: "PUT",
    headers: { "content-type": "application/x-ndjson" },
    body: recipients.map((to) => `{"to":"${to}"}\n`).join("")
  })
  yield* ask(`${at}/check`, { method: "POST" })
  yield* checks.until(ask(at), ({ body }) => body.status === "ready")
  const started = yield* ask(`${at}/start`, { method: "POST" })
  assert.strictEqual(started.status, 200, started.text)
  return { at: `${url}/internal/campaigns${at}`, status: started.body.status as string }
})

const alertsOf = ({ session, url }: World) =>
  Effect.map(call(`${url}/internal/alerts/settings`, { headers: session }), ({ body }) => body)

/**
 * How each right is made, and what holds of it after its maker was demoted to `member` or removed. The checks run in
 * this order: time passes in the last two.
 */
const rights: {
  readonly [right: string]: (
    world: World
  ) => Effect.Effect<(happened: typeof how[number]) => Effect.Effect<void>, never, Scope.Scope>
} = {
  "Invitation": Effect.fnUntraced(function*({ maker, url }) {
    const { body } = yield* invite(url, maker.headers, "sock@example.com", "owner")
    return Effect.fnUntraced(function*() {
      checks.assertError(yield* accept(url, tokenIn(body.inviteUrl), password), 401, {
        code: "unauthorized",
        reason: "invalid_credentials",
        param: "token"
      })
    })
  }),
  "Invitation by the operator's command or by a host's person": Effect.fnUntraced(function*(
    { services, url, workspaceId }
  ) {
    const ofHost = yield* checks.invited(services, workspaceId, "hosts@example.com", "owner")
    const ofOperator = yield* Context.get(services, Members.Members).invite(
      { operator: true, workspaceId, workspaceName: "wac" },
      { email: "operators@example.com", role: "owner" },
      () => ""
    ).pipe(Effect.map(({ token }) => Redacted.value(token)), Effect.orDie)
    return Effect.fnUntraced(function*() {
      for (const token of [ofHost, ofOperator]) {
        const { body, status } = yield* accept(url, token, password)
        assert.deepStrictEqual([status, body.role], [200, "owner"])
      }
    })
  }),
  "Session": ({ maker, url }) =>
    Effect.succeed(Effect.fnUntraced(function*(happened) {
      const session = yield* call(`${url}/internal/session`, { headers: maker.headers })
      if (happened === "removed") {
        return checks.assertError(session, 401, { code: "unauthorized", reason: "missing_session" })
      }
      assert.deepStrictEqual([session.status, session.body.role], [200, "member"])
      checks.assertError(yield* call(`${url}/internal/members`, { headers: maker.headers }), 403, {
        code: "forbidden",
        reason: "role_not_allowed"
      })
    })),
  "Alert address": (world) =>
    Effect.succeed(Effect.fnUntraced(function*(happened) {
      const { emails } = yield* alertsOf(world)
      assert.sameMembers(emails, happened === "removed" ? [team] : [maker, team])
    })),
  "Webhook and alert URL": (world) =>
    Effect.succeed(Effect.fnUntraced(function*() {
      const webhook = yield* call(`${world.url}/internal/webhook`, { headers: world.session })
      const { url } = yield* alertsOf(world)
      assert.deepStrictEqual([webhook.body.url, url], [world.customer.url, alertUrl])
    })),
  "API key": Effect.fnUntraced(function*({ maker, url }) {
    const key = yield* createKey(url, maker.headers)
    return Effect.fnUntraced(function*() {
      assert.strictEqual((yield* send({ url, key }, hello())).status, 200)
    })
  }),
  "Portal link and session": Effect.fnUntraced(function*({ services, url, workspaceId }) {
    const link = Context.get(services, Portals.Portals)
      .link({ workspaceId, role: "developer", visitor: maker, lifetime: Duration.hours(1) })
      .pipe(Effect.map(({ token }) => Redacted.value(token)), Effect.orDie)
    const open = (token: string) => call(`${url}/internal/portal`, { headers: ownPage, body: { token } })
    const later = yield* link
    const opened = yield* open(yield* link)
    const cookie = opened.headers.getSetCookie()[0]!.split(";")[0]!
    const keys = call(`${url}/internal/api-keys`, { headers: { ...ownPage, cookie, "wac-portal": workspaceId } })
    assert.strictEqual((yield* keys).status, 200)
    return Effect.fnUntraced(function*() {
      assert.strictEqual((yield* keys).status, 200)
      assert.strictEqual((yield* open(later)).status, 200)
    })
  }),
  "Replay job": Effect.fnUntraced(function*(world) {
    const { customer, maker, session, url } = world
    const act = (headers: typeof session, path: string, body: unknown = {}) =>
      call(`${url}/internal/webhook${path}`, { headers, body })
    yield* send(world, hello())
    const [sent] = yield* customer.take(1)
    // what is replayed waits until after the change
    assert.strictEqual((yield* act(session, "/pause")).status, 200)
    const { body: job, status } = yield* act(maker.headers, "/replays", { since: sent!.event.created_at })
    assert.strictEqual(status, 201)
    return Effect.fnUntraced(function*() {
      assert.strictEqual((yield* act(session, "/resume")).status, 200)
      yield* checks.until(customer.take(1), ([delivery]) => delivery!.event.id === sent!.event.id)
      yield* checks.until(
        call(`${url}/internal/webhook/replays/${job.id}`, { headers: session }),
        ({ body }) => body.state === "completed"
      )
    })
  }),
  "Password reset link": Effect.fnUntraced(function*({ mail, url }) {
    yield* call(`${url}/internal/password/reset-request`, { headers: ownPage, body: { email: maker } })
    const { text } = (yield* checks.until(
      Effect.sync(() => mail.received.find(({ text, to }) => to.includes(maker) && text.includes("/password-reset#"))),
      (found) => found !== undefined
    ))!
    return Effect.fnUntraced(function*() {
      const reset = yield* call(`${url}/internal/password/reset`, {
        headers: ownPage,
        body: { token: tokenIn(text), password: "a dog of the same colour" }
      })
      assert.strictEqual(reset.status, 204, reset.text)
    })
  }),
  "Open page (`GET /internal/stream`)": Effect.fnUntraced(function*({ pass, session, url, maker }) {
    const page = yield* listen(url, maker.headers)
    return Effect.fnUntraced(function*(happened) {
      if (happened === "removed") {
        yield* pass("10 seconds")
        return yield* page.end
      }
      yield* createKey(url, session)
      yield* page.until("apiKeys")
    })
  }),
  "Scheduled or running campaign": Effect.fnUntraced(function*(world) {
    const running = yield* campaign(world, held)
    const scheduled = yield* campaign(world, ["+12025550003"], { startAt: checks.timeIn(3_600_000) })
    assert.deepStrictEqual([running.status, scheduled.status], ["running", "scheduled"])
    yield* Deferred.await(world.isSending)
    const completed = (at: string) =>
      checks.until(call(at, { headers: world.session }), ({ body }) => body.status === "completed")
    return Effect.fnUntraced(function*() {
      assert.deepInclude((yield* completed(running.at)).body.counts, { total: 2, failed: 0, skipped: 0 })
      yield* world.pass("1 hour")
      assert.deepInclude((yield* completed(scheduled.at)).body.counts, { total: 1, failed: 0, skipped: 0 })
    })
  })
}

describe("what a person gave or made earlier", () => {
  it("each right that the record decides about has a test", () => {
    assert.sameMembers(Object.keys(rights), decided)
  })

  for (const happened of how) {
    it.live(`each right stays or ends as the record says when its maker is ${happened}`, () =>
      Effect.gen(function*() {
        const all = yield* world
        const { isChanged, maker, session, url } = all
        const holding = yield* Effect.forEach(Object.values(rights), (make) => make(all))
        const change =
          { demoted: { method: "PATCH", body: { role: "member" } }, removed: { method: "DELETE" } }[happened]
        const { status } = yield* call(`${url}/internal/members/${maker.id}`, { ...change, headers: session })
        assert.isBelow(status, 300)
        yield* Deferred.succeed(isChanged, undefined)
        for (const check of holding) yield* check(happened)
      }).pipe(Effect.scoped))
  }
})
