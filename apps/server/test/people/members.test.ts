/**
 * `wac members`: the way back for who has lost a password, beside a server on the same database.
 */
import { assert, it } from "@effect/vitest"
import { Totp } from "@wac/core"
import { Clock, Effect, Redacted } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { wac } from "../commandLine.ts"
import { call, environment, ownPage, signIn, start } from "../harness.ts"
import { freshDatabase, masterKey, postgres } from "../processes.ts"
import { enrol } from "./enrolment.ts"
import { mailbox } from "./mailbox.ts"

const owner = environment.WAC_OWNER_EMAIL

const signInWith = (url: string, password: string) =>
  Effect.map(
    call(`${url}/internal/session`, { headers: ownPage, body: { email: owner, password } }),
    ({ status }) => status
  )

it.live("the operator removes a second factor while a server runs, without its master key, and audits it", () =>
  Effect.gen(function*() {
    const DATABASE_URL = yield* Effect.flatMap(postgres, freshDatabase)
    const members = wac({ DATABASE_URL }, "members")
    const { url } = yield* start({ environment: { DATABASE_URL, WAC_MASTER_KEY: masterKey() } })
    const headers = yield* signIn(url)
    assert.match(String((yield* members("reset-factor")).code), /^owner@example\.com has no second factor$/)
    const { body } = yield* call(`${url}/internal/factor`, { method: "PUT", headers })
    const code = Totp.codeAt(Redacted.make(body.secret), yield* Clock.currentTimeMillis)
    const confirmed = yield* call(`${url}/internal/factor/confirm`, { headers, body: { code } })
    assert.strictEqual(confirmed.status, 200, confirmed.text)
    assert.strictEqual(yield* signInWith(url, environment.WAC_OWNER_PASSWORD), 401)
    const reset = yield* members("reset-factor Owner@Example.com")
    assert.deepStrictEqual([reset.code, reset.stderr], [0, ""])
    assert.match(reset.stdout, /^owner@example\.com has no second factor any more/)
    assert.strictEqual(yield* signInWith(url, environment.WAC_OWNER_PASSWORD), 200)
    const audit = yield* call(`${url}/internal/audit`, { headers })
    assert.isTrue(
      audit.body.data.some(({ action, by }: { action: string; by: unknown }) =>
        action === "member.reset_factor" && by === null
      )
    )
  }).pipe(Effect.scoped, Effect.orDie))

it.live("resetting a password works while a server runs, without its master key, and ends the person's sessions", () =>
  Effect.gen(function*() {
    const DATABASE_URL = yield* Effect.flatMap(postgres, freshDatabase)
    const members = wac({ DATABASE_URL }, "members")
    assert.match(String((yield* members("reset-password")).code), /^there are no members yet[^\n]*$/)
    const { url } = yield* start({ environment: { DATABASE_URL, WAC_MASTER_KEY: masterKey() } })
    const sessions = [yield* signIn(url), yield* signIn(url)]
    assert.match((yield* members("list")).stdout, /^owner@example\.com {2}owner of ws_\w+ wac$/)

    const reset = yield* members("reset-password")
    assert.deepStrictEqual([reset.code, reset.stderr], [0, ""])
    assert.include(reset.stdout, `${owner} has a new password; sessions ended: 2`)
    const password = /shown this once: ([0-9A-Za-z]{20})$/.exec(reset.stdout)![1]!
    for (const headers of sessions) {
      assert.strictEqual((yield* call(`${url}/internal/session`, { headers })).status, 401)
    }
    assert.strictEqual(yield* signInWith(url, environment.WAC_OWNER_PASSWORD), 401)
    assert.strictEqual(yield* signInWith(url, password), 200)

    const chosen = "  spaces are part of it "
    const given = yield* members("reset-password Owner@Example.com --password-from -", { input: `${chosen}\n` })
    assert.deepStrictEqual([given.code, given.stderr], [0, ""])
    assert.notInclude(given.stdout, chosen.trim())
    assert.strictEqual(yield* signInWith(url, password), 401)
    assert.strictEqual(yield* signInWith(url, chosen), 200)

    for (
      const [line, input, words] of [
        ["reset-password nobody@example.com", "", /there is no member nobody@example\.com/],
        ["reset-password --password-from -", "short\n", /8 to 256 characters/],
        ["reset-password --password-from -", "password\n", /the password must not be one of the most common/],
        ["reset-password --password-from -", `${owner}\n`, /the password must not be the person's own e-mail address/],
        ["reset-password --password-from -", "", /no password came on standard input/],
        ["reset-password --password-from NOT_SET", "", /NOT_SET/]
      ] as const
    ) {
      const refused = yield* members(line, { input })
      assert.match(String(refused.code), /^[^\n]+$/)
      assert.match(String(refused.code), words)
    }
    assert.strictEqual(yield* signInWith(url, chosen), 200)
  }).pipe(Effect.scoped, Effect.orDie))

it.live("a person is mailed what the operator does to their account, and a mail server that is away undoes nothing", () =>
  Effect.gen(function*() {
    const mail = yield* mailbox
    const DATABASE_URL = yield* Effect.flatMap(postgres, freshDatabase)
    const members = wac({ DATABASE_URL, SMTP_URL: mail.url }, "members")
    const { url } = yield* start({ environment: { DATABASE_URL, WAC_MASTER_KEY: masterKey() } })
    const headers = yield* signIn(url)
    yield* enrol(url, headers, yield* Clock.Clock)
    const factor = yield* members("reset-factor")
    assert.deepStrictEqual([factor.code, factor.stderr], [0, ""])
    const { text: ofFactor } = yield* mail.notice(owner, "Your second factor was reset")
    assert.match(ofFactor, /was reset by the operator of the service, at 2\S+Z\./)
    const chosen = "a horse of another colour"
    const given = yield* members("reset-password --password-from -", { input: chosen })
    assert.deepStrictEqual([given.code, given.stderr], [0, ""])
    const { text } = yield* mail.notice(owner, "Your password was changed")
    assert.match(text, /was changed by the operator of the service, at 2\S+Z\./)
    assert.notInclude(text, chosen)

    const away = yield* members("reset-password", { env: { SMTP_URL: "smtp://127.0.0.1:1" } })
    assert.strictEqual(away.code, 0)
    const password = /shown this once: ([0-9A-Za-z]{20})$/.exec(away.stdout)![1]!
    assert.strictEqual(yield* signInWith(url, password), 200)
    const wrong = yield* members("reset-password", { env: { SMTP_URL: "hunter2" } })
    assert.match(String(wrong.code), /^SMTP_URL: expected [^\n]+$/)
    assert.strictEqual(yield* signInWith(url, password), 200)
    assert.lengthOf(mail.notices, 2)
  }).pipe(Effect.scoped, Effect.orDie))

it.live("unlinking a member while a server runs ends their sessions, so that another identity can have the account", () =>
  Effect.gen(function*() {
    const DATABASE_URL = yield* Effect.flatMap(postgres, freshDatabase)
    const members = wac({ DATABASE_URL }, "members")
    const { url } = yield* start({ environment: { DATABASE_URL, WAC_MASTER_KEY: masterKey() } })
    const headers = yield* signIn(url)
    const unlinked = yield* members("unlink Owner@Example.com")
    assert.deepStrictEqual([unlinked.code, unlinked.stderr], [0, ""])
    assert.include(unlinked.stdout, `${owner} has no identity at an issuer any more (there were 0), and no sessions`)
    assert.strictEqual((yield* call(`${url}/internal/session`, { headers })).status, 401)
    const unknown = yield* members("unlink nobody@example.com")
    assert.match(String(unknown.code), /there is no member nobody@example\.com/)
  }).pipe(Effect.scoped, Effect.orDie))

it.live("with the wrong master key, the numbers command fails with one line that names the variable", () =>
  Effect.gen(function*() {
    const DATABASE_URL = yield* Effect.flatMap(postgres, freshDatabase)
    const right = yield* wac({ DATABASE_URL, WAC_MASTER_KEY: masterKey() }, "numbers")("list")
    assert.strictEqual(right.code, 0)
    const wrong = yield* wac({ DATABASE_URL, WAC_MASTER_KEY: masterKey() }, "numbers")("list")
    assert.match(String(wrong.code), /^WAC_MASTER_KEY: expected the key that encrypts this storage's secrets[^\n]*$/)
  }).pipe(Effect.scoped, Effect.orDie))

it.live("an embedded database allows a password reset only while its server is stopped, and says so in one line", () =>
  Effect.gen(function*() {
    const directory = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "wac-members-"))),
      (directory) => Effect.sync(() => rmSync(directory, { recursive: true }))
    )
    const DATABASE_URL = `pglite:${directory}`
    const members = wac({ DATABASE_URL }, "members")
    yield* Effect.gen(function*() {
      yield* start({ environment: { DATABASE_URL } })
      const refused = yield* members("reset-password")
      assert.match(
        String(refused.code),
        /^DATABASE_URL: [^\n]*is in use by process \d+[^\n]*stop the server first$/
      )
    }).pipe(Effect.scoped)
    const reset = yield* members("reset-password --password-from -", { input: "another password\n" })
    assert.deepStrictEqual([reset.code, reset.stderr], [0, ""])
    const memory = yield* wac({ DATABASE_URL: "memory:" }, "members")("reset-password")
    assert.match(String(memory.code), /^DATABASE_URL: [^\n]*memory belongs to one process$/)
  }).pipe(Effect.scoped))

it.live("a portal link made while a server runs opens the page that it names", () =>
  Effect.gen(function*() {
    const DATABASE_URL = yield* Effect.flatMap(postgres, freshDatabase)
    const { url } = yield* start({ environment: { DATABASE_URL, WAC_MASTER_KEY: masterKey() } })
    const members = wac({ DATABASE_URL, PUBLIC_URL: "https://wac.example.com/" }, "members")
    const made = yield* members("portal-link --role developer --path /deliveries --expires-in 60 --visitor Ana")
    assert.strictEqual(made.code, 0, made.stderr)
    const [, path, token, id] = /^https:\/\/wac\.example\.com(\/portal\/ws_\w+\/deliveries)#token=(\w{32})&id=(\w+)$/
      .exec(made.stdout)!
    assert.match(made.stderr, /^works once, until \S+Z: whoever opens it first is let in$/)
    assert.strictEqual((yield* call(url + path!)).status, 200)
    const opened = yield* call(`${url}/internal/portal`, { headers: ownPage, body: { token } })
    assert.deepInclude(opened.body, { userId: id, role: "developer", email: "Ana" })
    assert.match((yield* members("portal-link")).stdout, /\/portal\/ws_\w+#token=\w{32}&id=\w+$/)
    for (const line of ["portal-link", "invite ben@example.com"]) {
      const local = yield* wac({ DATABASE_URL }, "members")(`${line} --json`)
      assert.match(local.stdout, /"(?:inviteUrl|url)":"http:\/\/127\.0\.0\.1:8080\//)
      assert.match(local.stderr, /^PUBLIC_URL is not set: the link leads to http:\/\/127\.0\.0\.1:8080$/m)
    }
    const themed = yield* members(`portal-link --theme {"accent":"#0b7446","scheme":"dark"}`)
    assert.match(themed.stdout, /#token=\w{32}&id=\w+&accent=%230b7446&scheme=dark$/)
    assert.match((yield* members("portal-link --language pt")).stdout, /#token=\w{32}&id=\w+&language=pt$/)
    const misspelled = yield* members(`portal-link --theme {"colour":"#0b7446"}`)
    assert.match(String(misspelled.code), /^--theme: there is no field colour/)
    for (
      const [line, words] of [
        ["portal-link --workspace ws_nothing", /^there is no workspace ws_nothing$/],
        ["portal-link --path /../dashboard", /1/],
        ["portal-link --expires-in 604801", /1/],
        ["portal-link --role guest", /1/],
        ["portal-link --language fr", /1/],
        ["portal-link --theme green", /^--theme: /],
        [`portal-link --theme {"logo":"https://app.example.com/logo.svg"}`, /^--theme: logo: must be /]
      ] as const
    ) {
      const refused = yield* members(line)
      assert.match(String(refused.code), words)
      assert.notInclude(refused.stdout, "#token=")
    }
  }).pipe(Effect.scoped, Effect.orDie))
