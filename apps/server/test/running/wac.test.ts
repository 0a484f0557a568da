/**
 * The operator's commands for workspaces, keys and webhooks, beside a server on the same database.
 */
import { assert, describe, it } from "@effect/vitest"
import { RecordingReceiver } from "@wac/testkit"
import { Effect } from "effect"
import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { until } from "../checks.ts"
import { type Ended, resultOf, wac } from "../commandLine.ts"
import { call, ownPage, receiver, setWebhook, signIn, start } from "../harness.ts"
import { emptyDatabase, masterKey, postgres, sql } from "../processes.ts"

/** Asserts that it failed with one line. */
const assertRefused = ({ code, stdout }: Ended, words: RegExp) => {
  assert.strictEqual(stdout, "")
  assert.match(String(code), /^[^\n]+$/)
  assert.match(String(code), words)
}

const message = { to: "+15551234567", type: "template", template: { name: "hello_world", language: "en_US" } }

it.live("an operator creates a workspace, its owner's invitation, keys and limits, and the server heeds them", () =>
  Effect.gen(function*() {
    const env = { DATABASE_URL: yield* Effect.flatMap(postgres, emptyDatabase), WAC_MASTER_KEY: masterKey() }
    const run = wac({ ...env, PUBLIC_URL: "https://wac.example.com" })
    for (
      const line of [
        "keys list",
        "campaigns list",
        "workspaces create Shop --number +14155550123 --id 1066 --account 4711"
      ]
    ) {
      assertRefused(yield* run(line), /does not contain the schema of this service: see that its name is right/)
    }
    const schemas = yield* sql(env.DATABASE_URL, "select 1 from pg_namespace where nspname = 'wac'")
    assert.deepStrictEqual(schemas, [], "a command does not make a schema")
    const { url } = yield* start({ environment: env })
    const created = resultOf(
      yield* run("workspaces create Shop --number +14155550123 --id 1066 --account sandbox --json")
    )
    assert.include(created, { name: "Shop", tier: "standard", suspended: false, monthlyQuota: null })
    assertRefused(yield* run("workspaces create Shop --number +14155550124 --id 1066 --account 1"), /already known/)
    const listed = yield* run("workspaces list")
    assert.include(listed.stdout, `${created.id} Shop\n  tier standard (100/s), monthly quota none`)

    assertRefused(yield* run("keys list"), /there are 2 workspaces: name one with --workspace/)
    assertRefused(yield* run("keys list --workspace ws_nobody"), /there is no workspace ws_nobody/)
    const here = `--workspace ${created.id}`
    assert.strictEqual((yield* run(`keys list ${here}`)).stdout, "the workspace has no active key")
    const key = resultOf(yield* run(`keys create orders ${here} --expires-in-days 30 --json`))
    const shown = yield* run(`keys list ${here}`)
    assert.match(shown.stdout, new RegExp(`^${key.id}  wac_live_\\S*  orders  never used, expires `))
    assert.notInclude(shown.stdout, key.apiKey)
    const narrow = resultOf(
      yield* run(`keys create narrow ${here} --from +14155550123 --cidr 10.0.0.0/8 --cidr 203.0.113.7 --json`)
    )
    assert.deepStrictEqual(narrow.allowedCidrs, ["10.0.0.0/8", "203.0.113.7/32"])
    assert.lengthOf(narrow.phoneNumberIds, 1)
    assert.include(
      (yield* run(`keys list ${here}`)).stdout,
      `from ${narrow.phoneNumberIds[0]} only, used from 10.0.0.0/8 203.0.113.7/32 only`
    )
    assertRefused(yield* run(`keys create wrong ${here} --from +15005550199`), /has no number \+15005550199/)
    assert.strictEqual((yield* run(`keys create wrong ${here} --cidr 10.0.0.1/8`)).code, 1)
    assert.include(resultOf(yield* run(`keys revoke ${narrow.id} ${here} --json`)), { revoked: true })
    const send = (idempotencyKey: string) =>
      call(`${url}/v1/messages`, {
        headers: { authorization: `Bearer ${key.apiKey}`, "idempotency-key": idempotencyKey },
        body: message
      })

    const suspended = yield* run(`workspaces suspend ${created.id}`)
    assert.include(suspended.stdout, "suspended")
    assert.include((yield* send("suspended")).body.error, { reason: "workspace_suspended" })
    assert.notInclude((yield* run(`workspaces unsuspend ${created.id}`)).stdout, "suspended")
    assert.notStrictEqual((yield* send("again")).body.error?.reason, "workspace_suspended")
    assertRefused(yield* run(`workspaces tier ${created.id} fast`), /free, standard, scale or default/)
    assert.include(resultOf(yield* run(`workspaces tier ${created.id} scale --json`)), { requestsPerSecond: 1000 })
    assert.include(resultOf(yield* run(`workspaces quota ${created.id} 0 --json`)), { monthlyQuota: 0 })
    assert.strictEqual((yield* run(`workspaces quota ${created.id} many`)).code, 1)

    const revoked = yield* run(`keys revoke ${key.id} ${here}`)
    assert.include(revoked.stdout, `revoked ${key.id}`)
    assertRefused(yield* run(`keys revoke key_01ARZ3NDEKTSV4RRFFQ69G5FAV ${here}`), /API key/)

    const invited = yield* run(`members invite Ana@example.com --role owner ${here}`)
    const token = /\nhttps:\/\/wac\.example\.com\/dashboard\/invitation#token=(\w{32})$/.exec(invited.stdout)![1]!
    const joined = yield* call(`${url}/internal/invitations/accept`, {
      headers: ownPage,
      body: { token, password: "correct horse battery" }
    })
    assert.strictEqual(joined.status, 200, joined.text)
    assert.include((yield* run("members list")).stdout, `ana@example.com  owner of ${created.id} Shop`)
    assertRefused(
      yield* run(`members invite ben@example.com ${here}`, { env: { AUTH: "oidc" } }),
      /^AUTH: people sign in at the issuer/
    )
  }).pipe(Effect.scoped))

it.live("a command makes no database in a directory that holds none", () =>
  Effect.gen(function*() {
    const directory = yield* Effect.acquireRelease(
      Effect.promise(() => mkdtemp(join(tmpdir(), "wac-command-"))),
      (directory) => Effect.promise(() => rm(directory, { recursive: true, force: true }))
    )
    for (const line of ["campaigns list", "keys list"]) {
      const run = wac({ DATABASE_URL: `pglite:${directory}/data` })
      assertRefused(yield* run(line), /^there is no database in \S+\/data: see that this is the right directory$/)
    }
    assert.deepStrictEqual(yield* Effect.promise(() => readdir(directory)), [])
  }).pipe(Effect.scoped))

it.live("an operator tests, resumes and replays a webhook, with the same rules for receivers as the server", () =>
  Effect.gen(function*() {
    const env = {
      DATABASE_URL: yield* Effect.flatMap(postgres, emptyDatabase),
      WAC_MASTER_KEY: masterKey(),
      WEBHOOK_ALLOW_INSECURE: "true",
      WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8"
    }
    const { url } = yield* start({ environment: env })
    const run = wac(env, "webhook")
    assertRefused(yield* run("show"), /no webhook/)
    const session = yield* signIn(url)
    const { answerWith, take, url: receiverUrl } = yield* receiver
    yield* setWebhook({ url, session }, { url: receiverUrl })

    assert.strictEqual((yield* run("show")).stdout, `${receiverUrl}: active`)
    assert.match((yield* run("test")).stdout, /^the receiver accepted the test event after \d+ ms$/)
    assert.strictEqual((yield* take(1))[0]!.event.type, "webhook.test")
    yield* answerWith(RecordingReceiver.reply(500))
    assertRefused(yield* run("test"), /^the receiver did not accept the test event: /)
    yield* call(`${url}/internal/webhook/pause`, { method: "POST", headers: session })
    assertRefused(yield* run("resume"), /^the webhook is still paused, because /)
    assert.match((yield* run("show")).stdout, /: paused since \S+, 0 events held$/)
    const waits = /^job_\w+ delivers 0 events again once the webhook is resumed, while a server runs$/
    assert.match((yield* run("replay --since 2026-01-01T00:00:00Z --status exhausted")).stdout, waits)
    assert.include(resultOf(yield* run("resume --force --replay none --json")), { status: "active" })
    assert.strictEqual((yield* run("resume --replay sometimes")).code, 1)

    const job = resultOf(yield* run("replay --since 2026-01-01T00:00:00Z --status exhausted --json"))
    const listed = yield* call(`${url}/internal/webhook/replays`, { headers: session })
    assert.strictEqual(listed.body.data[0].id, job.id)
    assert.match(
      (yield* run("replay --since 2026-01-01T00:00:00Z --status exhausted")).stdout,
      // nothing is counted until what the resume skipped has been written
      /^job_\w+ delivers (0|the) events again, while a server runs$/
    )
    assert.strictEqual((yield* run("replay --since yesterday")).code, 1)
    assertRefused(yield* run("test", { env: { WEBHOOK_ALLOW_CIDRS: "" } }), /address/)
  }).pipe(Effect.scoped))

it.live("an operator finds, shows and retries deliveries by the rules of the dashboard, and the audit names each retry", () =>
  Effect.gen(function*() {
    const env = {
      DATABASE_URL: yield* Effect.flatMap(postgres, emptyDatabase),
      WAC_MASTER_KEY: masterKey(),
      WEBHOOK_ALLOW_INSECURE: "true",
      WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8"
    }
    const { url } = yield* start({ environment: env })
    // the storage is enough: no secret is opened
    const run = wac({ DATABASE_URL: env.DATABASE_URL }, "deliveries")
    const session = yield* signIn(url)
    assert.strictEqual((yield* run("find")).stdout, "no delivery was found")
    const { take, url: receiverUrl } = yield* receiver
    yield* setWebhook({ url, session }, { url: receiverUrl })
    const key = resultOf(yield* wac(env)("keys create orders --json"))
    const sent = yield* call(`${url}/v1/messages`, {
      headers: { authorization: `Bearer ${key.apiKey}`, "idempotency-key": "1" },
      body: { ...message, to: "+15005550003" }
    })
    const { event } = (yield* take(1))[0]!
    yield* call(`${url}/internal/webhook/test`, { method: "POST", headers: session })
    yield* take(1)

    const find = (flags: string) =>
      Effect.map(
        run(`find ${flags} --json`),
        (ended) => resultOf(ended).deliveries as ReadonlyArray<{ readonly [name: string]: string }>
      )
    const idOf = ([one]: ReadonlyArray<{ readonly [name: string]: string }>) => one?.["id"]
    const all = yield* until(
      find(""),
      (found) => found.length === 2 && found.every(({ status }) => status === "delivered")
    )
    const [test, one] = [all[0]!, all[1]!]
    assert.deepStrictEqual([test["eventType"], one["eventId"]], ["webhook.test", event.id])
    const shown = yield* call(`${url}/internal/webhook/deliveries/${one["id"]}`, { headers: session })
    const { curl: _curl, ...same } = shown.body
    assert.deepStrictEqual(resultOf(yield* run(`show ${one["id"]} --json`)), { ...same, webhookId: one["webhookId"] })
    assert.match(
      (yield* run(`show ${one["id"]}`)).stdout,
      /^dlv_\w+ {2}delivered {2}message\.sent evt_[^\n]+\n {2}1 {2}\S+ {2}automatic {2}http/
    )
    assert.strictEqual(idOf(yield* find("--limit 1")), test["id"])
    assert.strictEqual((yield* run("find --limit 1")).stderr, "more than 1: give --limit, or narrow the search")
    assert.isTrue(resultOf(yield* run("find --limit 1 --json")).hasMore)
    assert.isFalse(resultOf(yield* run("find --limit 2 --json")).hasMore)
    for (
      const flags of [
        `--event ${event.id}`,
        `--message ${sent.body.message_id}`,
        `--event-type message.sent --status delivered --webhook ${one["webhookId"]}`,
        "--outcome delivered --status-code 200 --event-type message.sent --since 2020-01-01"
      ]
    ) assert.deepStrictEqual((yield* find(flags)).map(({ id }) => id), [one["id"]], flags)
    for (const flags of ["--status held", "--until 2020-01-01", "--webhook whk_01ARZ3NDEKTSV4RRFFQ69G5FAV"]) {
      assert.deepStrictEqual(yield* find(flags), [], flags)
    }
    for (const wrong of ["--status gone", "--message 7", "--since yesterday", "--until 2026-02-30", "--limit 0"]) {
      assert.strictEqual((yield* run(`find ${wrong}`)).code, 1, wrong)
    }
    assertRefused(yield* run("find --event evt_01ARZ3NDEKTSV4RRFFQ69G5FAV"), /no such event/)

    assertRefused(yield* run("show dlv_01ARZ3NDEKTSV4RRFFQ69G5FAV"), /no such delivery/)
    assertRefused(yield* run("retry other"), /no such delivery/)
    assertRefused(yield* run(`retry ${test["id"]}`), /a test is attempted only once/)
    assert.include(resultOf(yield* run(`retry ${one["id"]} --json`)), { id: one["id"], status: "pending" })
    assert.strictEqual((yield* take(1))[0]!.event.id, event.id)
    yield* call(`${url}/internal/webhook/pause`, { method: "POST", headers: session })
    assert.match((yield* run(`retry ${one["id"]}`)).stdout, /is held until the webhook is resumed/)
    const audit = yield* call(`${url}/internal/audit?target=${one["id"]}`, { headers: session })
    assert.deepStrictEqual(
      audit.body.data.map(({ action, by }: { readonly action: string; readonly by: unknown }) => [action, by]),
      [["delivery.retry", null], ["delivery.retry", null]]
    )
    yield* call(`${url}/internal/webhook`, { method: "DELETE", headers: session })
    assertRefused(yield* run(`retry ${one["id"]}`), /webhook of this delivery has been removed/)
  }).pipe(Effect.scoped))

describe("the command line", () => {
  const help = (words: string) => Effect.map(wac({})(`${words} --help`), ({ stdout }) => stdout)
  const namesIn = (text: string) =>
    [...(text.split("SUBCOMMANDS\n")[1] ?? "").matchAll(/^ {2}(\S+)/gm)].map(([, name]) => name!)

  it.live("every command describes itself with --help, and takes --json", () =>
    Effect.gen(function*() {
      const visit = (words: string): Effect.Effect<number> =>
        Effect.gen(function*() {
          const text = yield* Effect.orDie(help(words))
          assert.match(text, /^DESCRIPTION\n {2}\S/, words)
          assert.include(text, "--json", words)
          const counts = yield* Effect.forEach(namesIn(text), (name) => visit(`${words} ${name}`))
          return counts.reduce((sum, count) => sum + count, 1)
        })
      assert.isAbove(yield* visit(""), 25)
    }))

  it.live("an unknown command is refused with help", () =>
    Effect.gen(function*() {
      const { code, stderr } = yield* wac({})("sned")
      assert.strictEqual(code, 1)
      assert.match(stderr, /sned/)
    }))

  it.live("with --json, a wrong command line is one line of JSON on standard error, and its help is not printed", () =>
    Effect.gen(function*() {
      const lines = {
        "keys revoke nonsense": /nonsense/,
        "keys revoke": /key/,
        "keys create one --expires-in-day 1": /--expires-in-day .*--expires-in-days/,
        "sned": /sned/,
        "messages": /^wac messages needs a subcommand/,
        "": /^wac needs a subcommand/
      }
      for (const [line, words] of Object.entries(lines)) {
        const { code, stderr, stdout } = yield* wac({})(`${line} --json`)
        assert.deepStrictEqual([code, stdout], [1, ""], line)
        assert.notInclude(stderr, "\n", line)
        assert.match(JSON.parse(stderr).error.message, words, line)
        assert.notInclude(JSON.parse(stderr).error.message, "\n", line)
      }
      assert.match((yield* wac({})("keys --help --json")).stdout, /^DESCRIPTION/)
    }))
})

it.live("a command's result alone is on standard output, and what is logged beside it on standard error", () =>
  Effect.gen(function*() {
    const env = { DATABASE_URL: yield* Effect.flatMap(postgres, emptyDatabase), WAC_MASTER_KEY: masterKey() }
    const run = wac(env)
    assert.strictEqual((yield* run("migrate", { env: { DATABASE_SCHEMA: "public" } })).code, 0)
    for (const line of ["migrate", "doctor --json", "webhook show --json"]) {
      const { stderr, stdout } = yield* run(line)
      assert.match(stderr, /the tables of wac stay in the schema "public"/, line)
      assert.notInclude(stdout, "stay in the schema", line)
    }
  }).pipe(Effect.scoped))
