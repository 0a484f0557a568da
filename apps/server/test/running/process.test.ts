import { assert, describe, it } from "@effect/vitest"
import { PGlite } from "@electric-sql/pglite"
import * as Curl from "@wac/testbed/Curl"
import * as FreePort from "@wac/testbed/FreePort"
import { RecordingReceiver } from "@wac/testkit"
import { SIGNATURE_HEADER, verify } from "@wac/verifier"
import { Effect, Fiber, type Scope } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { readFileSync, statSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { fromEnvironment } from "../../src/ServerConfig.ts"
import { assertBelow, connect, head, until } from "../checks.ts"
import { call, createKey, environment, hello, noticed, ownPage, send, setWebhook, signIn } from "../harness.ts"
import * as programs from "../programs.ts"

const root = fileURLToPath(new URL("../../../..", import.meta.url))

/** What `npm start` and `npm run demo` run, from their own lines. */
const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly scripts: { readonly start: string; readonly demo: string }
}

/** Nothing of this process's own environment but what programs need to be found. */
const base = { PATH: process.env["PATH"]!, PORT: "0", DATABASE_URL: "memory:" }

/** A process of somebody else: what it has written, and how it ends. */
interface Running {
  readonly child: ChildProcess
  /** Done once it has written this to its output; fails if it ends before. */
  readonly written: (pattern: RegExp) => Effect.Effect<string>
  readonly output: () => { readonly stdout: string; readonly stderr: string }
  readonly ended: Effect.Effect<{ readonly code: number | null; readonly signal: string | null }>
}

const launch = (
  file: string,
  args: ReadonlyArray<string>,
  options: { readonly cwd: string; readonly env: Record<string, string>; readonly input?: string }
): Effect.Effect<Running, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync((): Running => {
      const child = spawn(file, args, { cwd: options.cwd, env: options.env })
      const output = { stdout: "", stderr: "" }
      child.stdout.setEncoding("utf8").on("data", (text: string) => output.stdout += text)
      child.stderr.setEncoding("utf8").on("data", (text: string) => output.stderr += text)
      child.stdin.end(options.input)
      const ended = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
        child.on("close", (code, signal) => resolve({ code, signal }))
      )
      return {
        child,
        output: () => output,
        ended: Effect.promise(() => ended),
        written: (pattern) =>
          Effect.promise(() =>
            new Promise((resolve, reject) => {
              const look = () => {
                const found = pattern.exec(output.stdout)
                if (found !== null) resolve(found[0])
              }
              child.stdout.on("data", look)
              child.on("close", () => reject(new Error(`ended before ${pattern}: ${JSON.stringify(output)}`)))
              look()
            })
          )
      }
    }),
    ({ child, ended }) => {
      if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL")
      return ended
    }
  )

const launchWac = (args: ReadonlyArray<string>, env: Record<string, string>) =>
  launch(process.execPath, args, { cwd: root, env: { ...base, LOG_FORMAT: "pretty", ...env } })

/** A way to start the service, with these variables. */
type Start = (env?: Record<string, string>) => Effect.Effect<Running, never, Scope.Scope>

/** Starts the service as a script does, from the sources, with this Node. */
const byScript = (script: string): Start => (env = {}) => {
  const [node, ...args] = script.split(" ")
  assert.strictEqual(node, "node")
  return launchWac(args, env)
}

/** Starts the service as it is published, which takes half the time. */
const service: Start = (env = {}) =>
  Effect.flatMap(Effect.promise(() => programs.path("wac")), (program) => launchWac([program, "start"], env))

/** The last line of the guide: the body of the third command. */
const wholeGuide = /Try it, in another terminal:[^]*# 3\. send a message\n[^]*\n {2}-d '\{"to".*\}'\n/

/** Starts it, waits for all that it says, and gives the address that it names. */
const started = Effect.fnUntraced(function*(env: Record<string, string> = {}, start: Start = service) {
  const running = yield* start(env)
  yield* running.written(wholeGuide)
  const [, url] = /^wac is listening on (http:\/\/127\.0\.0\.1:\d+)$/m.exec(running.output().stdout)!
  return { ...running, url: url! }
})

/** The three commands of the guide, as they would be pasted. */
const commandsOf = (stdout: string): ReadonlyArray<string> =>
  stdout.slice(stdout.indexOf("# 1. sign in")).split(/^# \d\. .*$/m).slice(1).map((command) => command.trim())

/** Runs commands one after the other in one shell; gives what each wrote. */
const bash = Effect.fnUntraced(function*(commands: ReadonlyArray<string>, env: Record<string, string> = {}) {
  const cwd = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "wac-"))),
    (directory) => Effect.promise(() => rm(directory, { recursive: true }))
  )
  const separator = "\n----\n"
  const input = `set -e\n${commands.join(`\nprintf '${separator.replaceAll("\n", "\\n")}'\n`)}\n`
  const shell = yield* launch("bash", [], { cwd, env: { PATH: base.PATH, ...env }, input })
  const ended = yield* shell.ended
  assert.deepStrictEqual({ ...ended, stderr: shell.output().stderr }, { code: 0, signal: null, stderr: "" })
  return shell.output().stdout.split(separator)
})

/** Sends the signal; gives how it ended and how long that took. */
const stop = Effect.fnUntraced(function*(running: Running, signal: "SIGTERM" | "SIGINT" = "SIGTERM") {
  const begun = performance.now()
  running.child.kill(signal)
  const ended = yield* running.ended
  return { ended, took: performance.now() - begun }
})

const obeyed = { code: 0, signal: null }

const key = /^wac_live_[0-9A-Za-z]{36}$/

const assertSent = (text: string) => {
  const { api_key_id, message_id, provider_message_id, status, tenant_id, ...rest } = JSON.parse(text)
  assert.deepStrictEqual([status, rest], ["sent", {}], text)
  assert.match(message_id, /^msg_/)
  assert.match(provider_message_id, /^wamid\.sandbox_/)
  assert.match(tenant_id, /^ws_/)
  assert.match(api_key_id, /^key_/)
}

describe("the first start", () => {
  it.live(
    "the first start prints the address and the sign-in, and its three commands send a message",
    () =>
      Effect.gen(function*() {
        const { output, url } = yield* started({}, byScript(scripts.start))
        const { stderr, stdout } = output()
        assert.strictEqual(stderr, "")
        const token = /setup#([0-9A-Za-z]{32}) /.exec(stdout)![1]!
        assert.include(
          stdout,
          `
wac is listening on ${url}
  storage   memory (nothing survives a restart)
  provider  sandbox
  sign in   open ${url}/setup#${token} once to create the owner
  docs      ${url}/docs

Try it, in another terminal:

# 1. sign in
curl `
        )
        const commands = commandsOf(stdout)
        assert.strictEqual(commands.length, 3)
        const [session, printedKey, sent] = yield* bash(commands)
        const { userId, workspaceId, ...owner } = JSON.parse(session!)
        assert.deepStrictEqual(owner, { email: "owner@example.com", role: "owner", workspaceName: "My workspace" })
        assert.match(userId, /^usr_/)
        assert.match(printedKey!.trim(), key)
        assertSent(sent!)
        assert.strictEqual(JSON.parse(sent!).tenant_id, workspaceId)

        // the link is used up
        const again = yield* call(`${url}/internal/setup`, {
          headers: ownPage,
          body: { token, email: "x@example.com", password: "another password", workspaceName: "x" }
        })
        assert.deepStrictEqual([again.status, again.body.error.reason], [401, "invalid_credentials"])
      }).pipe(Effect.scoped),
    Curl.needed
  )

  it.live(
    "the commands sign in the environment's owner, without printing the password",
    () =>
      Effect.gen(function*() {
        const owner = { WAC_OWNER_EMAIL: "o'neil@example.com", WAC_OWNER_PASSWORD: "p4ss $HOME `id` 'x' é" }
        const { output, url } = yield* started({ ...owner, WAC_WORKSPACE_NAME: "Ours", HOST: "127.0.0.1" })
        const { stdout } = output()
        assert.include(stdout, `\n  sign in   as o'neil@example.com\n  docs      ${url}/docs\n`)
        assert.notInclude(stdout, "setup#")
        assert.notInclude(stdout, "p4ss")
        const [session, printedKey, sent] = yield* bash(commandsOf(stdout), {
          WAC_OWNER_PASSWORD: owner.WAC_OWNER_PASSWORD
        })
        const { userId: _, workspaceId, ...shown } = JSON.parse(session!)
        assert.deepStrictEqual(shown, { email: "o'neil@example.com", role: "owner", workspaceName: "Ours" })
        assert.match(printedKey!.trim(), key)
        assertSent(sent!)
        assert.strictEqual(JSON.parse(sent!).tenant_id, workspaceId)
      }).pipe(Effect.scoped),
    Curl.needed
  )

  it.live("the server prints everything again at each start until set-up, with a token of its own for each database", () =>
    Effect.gen(function*() {
      const tokens: Array<string> = []
      for (const _ of [1, 2, 3]) {
        const running = yield* service()
        yield* running.written(wholeGuide)
        tokens.push(/setup#([0-9A-Za-z]{32}) /.exec(running.output().stdout)![1]!)
        assert.deepStrictEqual((yield* stop(running, "SIGINT")).ended, obeyed)
      }
      assert.strictEqual(new Set(tokens).size, tokens.length)
    }).pipe(Effect.scoped))
})

describe("an invalid configuration", () => {
  it.live("an invalid variable ends the process with one line without its value, and exit code 1", () =>
    Effect.gen(function*() {
      const wrong = [
        [{ PORT: "80a" }, "wac: PORT: expected a port number, 0 to 65535\n"],
        [
          { DATABASE_URL: "mysql://wac:hunter2@db/wac" },
          "wac: DATABASE_URL: expected postgres://…, pglite:DIRECTORY or memory:\n"
        ],
        [
          { WAC_MASTER_KEY: "c2hvcnQ=" },
          "wac: WAC_MASTER_KEY: expected 32 random bytes in base64, as `openssl rand -base64 32` makes them\n"
        ]
      ] as const
      yield* Effect.forEach(wrong, ([env, line]) =>
        Effect.gen(function*() {
          const running = yield* service(env)
          assert.deepStrictEqual(yield* running.ended, { code: 1, signal: null })
          assert.deepStrictEqual(running.output(), { stdout: "", stderr: line })
        }), { concurrency: "unbounded" })
    }).pipe(Effect.scoped))

  it.effect("the error names the variable and does not show its value", () =>
    Effect.gen(function*() {
      const wrong: ReadonlyArray<readonly [environment: Record<string, string>, named?: string]> = [
        ...["80a", "-1", "65536", "8080.5"].map((PORT) => [{ PORT }] as const),
        [{ HOST: "h".repeat(254) }],
        [{ DATABASE_URL: "mysql://wac:hunter2@db/wac" }],
        [{ DATABASE_URL: "postgres://wac:hunter2@db/wac" }, "WAC_MASTER_KEY"],
        [{ PROVIDER: "hunter2" }],
        [{ PROVIDER: "whatsapp" }, "WHATSAPP_ACCESS_TOKEN"],
        [{ RATE_LIMIT_STORE: "http://user:hunter2@cache" }],
        [{ WAC_MASTER_KEY: "aHVudGVyMg==" }],
        [{ WAC_MASTER_KEY_PREVIOUS: "!hunter2!" }],
        [{ WAC_OWNER_EMAIL: "o@example.com", WAC_OWNER_PASSWORD: "hunter2" }, "WAC_OWNER_PASSWORD"],
        [{ WAC_OWNER_EMAIL: "o@example.com" }, "WAC_OWNER_PASSWORD"],
        [{ WAC_OWNER_PASSWORD: "hunter2 hunter2" }, "WAC_OWNER_EMAIL"],
        [{ WAC_WORKSPACE_NAME: "n".repeat(101) }],
        ...[
          "{hunter2",
          "{\"tiers\":{}}",
          "{\"workspaceTiers\":{\"standard\":0}}",
          "{\"defaults\":{\"workspaceTier\":\"hunter2\"}}"
        ].map((WAC_LIMITS) => [{ WAC_LIMITS }] as const),
        [{ WEBHOOK_ALLOW_INSECURE: "yes" }],
        ...["hunter2", "10.0.0.0/33", "10.0.0.0/8;127.0.0.0/8"].map((WEBHOOK_ALLOW_CIDRS) =>
          [{ WEBHOOK_ALLOW_CIDRS }] as const
        ),
        [{ TRUST_PROXY: "hunter2" }],
        ...["hunter2.example.com", "ftp://hunter2"].map((PUBLIC_URL) => [{ PUBLIC_URL }] as const),
        [{ LOG_FORMAT: "xml" }],
        [{ LOG_LEVEL: "loud" }],
        [{ OTEL_EXPORTER_OTLP_ENDPOINT: "hunter2" }]
      ]
      for (const [environment, named = Object.keys(environment)[0]!] of wrong) {
        const { message, variable } = yield* Effect.flip(fromEnvironment(environment))
        assert.strictEqual(variable, named)
        assert.match(message, new RegExp(`^${named}: expected [^\n]+$`))
        assert.notInclude(message, "hunter2")
      }
    }))

  it.live("a port in use makes the start fail", () =>
    Effect.gen(function*() {
      const { port } = yield* listen(createServer())
      const running = yield* service({ PORT: `${port}` })
      assert.deepStrictEqual(yield* running.ended, { code: 1, signal: null })
      assert.deepStrictEqual(running.output(), {
        stdout: "",
        stderr: `wac: PORT, HOST: cannot listen on 127.0.0.1:${port} (EADDRINUSE)\n`
      })
    }).pipe(Effect.scoped))

  it.live("with LOG_FORMAT=json, a failed start ends with one line in the form of the log", () =>
    Effect.gen(function*() {
      const wrong: ReadonlyArray<readonly [env: Record<string, string>, message: RegExp]> = [
        [{ PORT: "80a" }, /^PORT: expected a port number, 0 to 65535$/],
        [
          {
            DATABASE_URL: "postgres://wac:hunter2@127.0.0.1:1/wac",
            WAC_MASTER_KEY: Buffer.alloc(32, 1).toString("base64")
          },
          /^DATABASE_URL: cannot use PostgreSQL: /
        ],
        [{ DATABASE_URL: `pglite:${fileURLToPath(import.meta.url)}` }, /^DATABASE_URL: cannot keep a database in /]
      ]
      const log = yield* service({ LOG_FORMAT: "json" })
      yield* log.written(/listening on/)
      const [shape] = log.output().stdout.split("\n")
      yield* Effect.forEach(wrong, ([env, message]) =>
        Effect.gen(function*() {
          const running = yield* service({ LOG_FORMAT: "json", ...env })
          assert.deepStrictEqual(yield* running.ended, { code: 1, signal: null })
          const { stderr, stdout } = running.output()
          assert.strictEqual(stdout, "")
          assert.notInclude(stderr, "hunter2")
          assert.match(stderr, /^[^\n]+\n$/)
          const line = JSON.parse(stderr)
          assert.deepStrictEqual(Object.keys(line).sort(), Object.keys(JSON.parse(shape!)).sort())
          assert.strictEqual(line.level, "ERROR")
          assert.match(line.message, message)
          assert.match(line.timestamp, /^\d{4}-\d\d-\d\dT[0-9:.]+Z$/)
        }), { concurrency: "unbounded" })
    }).pipe(Effect.scoped))

  it.live("a storage that cannot be opened makes the start fail", () =>
    Effect.gen(function*() {
      const running = yield* service({ DATABASE_URL: `pglite:${fileURLToPath(import.meta.url)}` })
      assert.deepStrictEqual(yield* running.ended, { code: 1, signal: null })
      assert.match(running.output().stderr, /^wac: DATABASE_URL: cannot keep a database in [^\n]+\n$/)
    }).pipe(Effect.scoped))
})

/** A server of the test's own. */
const listen = (server: ReturnType<typeof createServer>) =>
  Effect.acquireRelease(
    Effect.promise(() =>
      new Promise<AddressInfo>((resolve) =>
        server.listen(0, "127.0.0.1", () => resolve(server.address() as AddressInfo))
      )
    ),
    () =>
      Effect.promise(() => {
        server.closeAllConnections()
        return new Promise((resolve) => server.close(resolve))
      })
  )

/** The owner of the harness, by the environment. */
const asOwner = {
  WAC_OWNER_EMAIL: environment.WAC_OWNER_EMAIL,
  WAC_OWNER_PASSWORD: environment.WAC_OWNER_PASSWORD,
  WEBHOOK_ALLOW_INSECURE: environment.WEBHOOK_ALLOW_INSECURE,
  WEBHOOK_ALLOW_CIDRS: environment.WEBHOOK_ALLOW_CIDRS
}

describe.concurrent("SIGTERM", () => {
  it.live("SIGTERM to npm stops the server that npm started", () =>
    Effect.gen(function*() {
      const npm = yield* launch("npm", ["start"], { cwd: root, env: { ...base, LOG_FORMAT: "pretty" } })
      yield* npm.written(wholeGuide)
      npm.child.kill("SIGTERM")
      // its output has its end when whoever could write to it is gone
      yield* npm.ended
    }).pipe(Effect.scoped))

  it.live("SIGTERM lets a send in flight finish, accepts no more requests, and exits with 0", () =>
    Effect.gen(function*() {
      const running = yield* started(asOwner)
      const { url } = running
      const session = yield* signIn(url)
      const key = yield* createKey(url, session)
      const answering = yield* Effect.forkChild(send({ url, key }, hello("+15005550010")), { startImmediately: true })
      // the sandbox takes 3 s to answer
      yield* until(
        call(`${url}/internal/messages?status=sending`, { headers: session }),
        ({ body }) => body.data.length === 1
      )
      const stopping = yield* Effect.forkChild(stop(running), { startImmediately: true })
      const asked = Effect.promise(() => fetch(`${url}/healthz`).then(({ status }) => status, () => "refused"))
      yield* until(asked, (answer) => answer === "refused")
      assert.isNull(running.child.exitCode)

      const answer = yield* Fiber.join(answering)
      assert.strictEqual(answer.status, 200, answer.text)
      assertSent(answer.text)
      const { ended, took } = yield* Fiber.join(stopping)
      assert.deepStrictEqual(ended, obeyed)
      assert.isBelow(took, 20_000)
      assert.strictEqual(running.output().stderr, "")
    }).pipe(Effect.scoped))

  it.live("SIGTERM does not wait indefinitely for a request that never ends", () =>
    Effect.gen(function*() {
      const running = yield* started()
      const connection = yield* connect(running.url)
      const headers = { ...ownPage, "content-type": "application/json", "content-length": "100" }
      yield* connection.write(`${head("POST /internal/session", headers)}{`)
      yield* noticed(running.url)
      const { ended, took } = yield* stop(running)
      assert.deepStrictEqual(ended, obeyed)
      assert.isBelow(took, 25_000)
    }).pipe(Effect.scoped))

  it.live("SIGTERM does not wait for a receiver that hangs", () =>
    // well before the attempt's own 5 s
    assertBelow(
      4500,
      Effect.gen(function*() {
        const asked = Promise.withResolvers<void>()
        const closed = Promise.withResolvers<void>()
        const { port } = yield* listen(createServer((request) => {
          request.on("close", () => closed.resolve())
          asked.resolve()
        }))
        const running = yield* started(asOwner)
        const { url } = running
        const session = yield* signIn(url)
        yield* setWebhook({ url, session }, { url: `http://127.0.0.1:${port}/` })
        const key = yield* createKey(url, session)
        assert.strictEqual((yield* send({ url, key }, hello())).status, 200)
        yield* Effect.promise(() => asked.promise)
        const { ended, took } = yield* stop(running)
        assert.deepStrictEqual(ended, obeyed)
        yield* Effect.promise(() => closed.promise)
        return took
      }).pipe(Effect.scoped)
    ))
})

describe("the log", () => {
  it.live("the JSON log has one object per line and contains no secret", () =>
    Effect.gen(function*() {
      const env = { ...asOwner, LOG_FORMAT: "json", LOG_LEVEL: "trace", WAC_TYPO: "canary-value" }
      const running = yield* service(env)
      yield* running.written(/"listening on http:/)
      const [, url = ""] = /"listening on (http:\/\/127\.0\.0\.1:\d+),/.exec(running.output().stdout)!
      const session = yield* signIn(url)
      const receiver = yield* listen(createServer((_, response) => response.writeHead(500).end()))
      const webhook = yield* setWebhook({ url, session }, { url: `http://127.0.0.1:${receiver.port}/canary-path` })
      const key = yield* createKey(url, session)
      const sent = yield* send({ url, key }, { ...hello(), client_reference: "canary-reference" })
      assert.strictEqual(sent.status, 200)
      const strangers = yield* Effect.all([
        call(`${url}/internal/session`, {
          headers: ownPage,
          body: { email: asOwner.WAC_OWNER_EMAIL, password: "canary-password" }
        }),
        send({ url, key: { apiKey: `${key.apiKey.slice(0, -1)}!` } }, hello()),
        call(`${url}/internal/setup`, {
          headers: ownPage,
          body: { token: "canary-token", email: "x@example.com", password: "canary-password", workspaceName: "x" }
        })
      ])
      assert.deepStrictEqual(strangers.map(({ status }) => status), [401, 401, 401])
      assert.deepStrictEqual((yield* stop(running)).ended, obeyed)

      const { stderr, stdout } = running.output()
      assert.strictEqual(stderr, "")
      const lines = stdout.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line))
      for (const line of lines) {
        assert.isString(line.level)
        assert.isNotNaN(Date.parse(line.timestamp))
      }
      assert.includeMembers(lines.map(({ level, message }) => `${level} ${message}`), [
        "WARN WAC_TYPO is not a variable of this service",
        "WARN storage is memory: nothing survives a restart",
        `INFO listening on ${url}, storage memory, provider sandbox`
      ])
      const cookie = session.cookie.split("=")[1]!
      for (
        const secret of [
          key.apiKey.slice("wac_live_".length + 4),
          key.signingSecret.slice("whsec_".length),
          webhook.signingSecret.slice("whsec_".length),
          cookie,
          asOwner.WAC_OWNER_PASSWORD,
          "canary"
        ]
      ) {
        assert.isAbove(secret.length, 5)
        assert.notInclude(stdout, secret)
      }
    }).pipe(Effect.scoped))
})

describe("the demo", () => {
  it.live(
    "the demo shows every step up to the verified event, and leaves the service running",
    () =>
      Effect.gen(function*() {
        // where the real service runs too
        const running = yield* byScript(scripts.demo)({
          PROVIDER: "whatsapp",
          PUBLIC_URL: "https://wac.example.com"
        })
        yield* running.written(/That is the whole flow/)
        yield* running.written(wholeGuide)
        const { stderr, stdout } = running.output()
        assert.strictEqual(stderr, "")
        const titles = [...stdout.matchAll(/^ {2}\d+\. (.*)\n {5}(.*)$/gm)]
        const steps = titles.map(([, title]) => title!)
        assert.deepStrictEqual(steps.slice(0, 6), [
          "The workspace has an owner",
          "Its events go to a receiver",
          "An API key was issued",
          "A template message was sent",
          "The receiver got message.sent, and its signature is valid",
          "The receiver got message.delivered, and its signature is valid"
        ])
        assert.deepStrictEqual(steps.slice(6).filter((title) => !/message\.(sent|delivered|read),/.test(title)), [
          "A template message was sent to a customer who answers",
          "The receiver got message.received, and its signature is valid",
          "A picture was uploaded",
          "The picture was sent with two buttons",
          "The receiver got message.received, and its signature is valid",
          "A campaign was made of a file, and its rows were checked",
          "The campaign was started",
          "The campaign has sent to each customer once",
          "The receiver got campaign.completed, and its signature is valid"
        ])
        assert.match(stdout, /^ {5}[0-4] of 5 customers$/m)
        const completed = JSON.parse(titles.at(-1)![2]!)
        assert.deepInclude(completed.data, { name: "Demo", status: "completed", total: 5, queued: 0, skipped: 0 })
        const pressed = JSON.parse(titles.findLast(([, title]) => title!.includes("message.received"))![2]!)
        assert.deepStrictEqual(pressed.data.interactive.button_reply, { id: "yes", title: "Yes" })
        const sent = titles[3]![2]!
        assertSent(sent)
        const { message_id, provider_message_id, tenant_id } = JSON.parse(sent)
        const delivered = JSON.parse(titles[5]![2]!)
        assert.deepStrictEqual(
          [delivered.type, delivered.tenant_id, delivered.data.message_id, delivered.data.provider_message_id],
          ["message.delivered", tenant_id, message_id, provider_message_id]
        )

        const [, url] = /^wac is listening on (http:\S+)/m.exec(stdout)!
        assert.strictEqual((yield* call(`${url}/healthz`)).status, 200)
        const again = yield* send({ url: url!, key: { apiKey: titles[2]![2]! } }, hello())
        assert.strictEqual(again.status, 200, again.text)
        // the commands under it are for this service
        const [session, printedKey, sentByHand] = yield* bash(commandsOf(stdout))
        assert.strictEqual(JSON.parse(session!).workspaceId, tenant_id)
        assert.match(printedKey!.trim(), key)
        assertSent(sentByHand!)
        assert.deepStrictEqual((yield* stop(running)).ended, obeyed)
      }).pipe(Effect.scoped),
    Curl.needed
  )
})

describe("embedded storage", () => {
  /** A directory for its data. */
  const temporary = Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "wac-data-"))),
    (made) => Effect.promise(() => rm(made, { recursive: true }))
  )

  /** A directory with the files of a new database, which are copied here and which a process would make at length. */
  const begun = Effect.tap(temporary, (directory) =>
    Effect.promise(async () => {
      const database = await PGlite.create({ dataDir: join(directory, "data") })
      await database.close()
    }))

  const unused = /WAC_OWNER_EMAIL, WAC_OWNER_PASSWORD and WAC_WORKSPACE_NAME are ignored/

  it.live("a waiting event and the webhook's settings survive a kill, and the owner's variables are ignored afterwards", () =>
    Effect.gen(function*() {
      const env = { ...asOwner, DATABASE_URL: `pglite:${yield* begun}/data` }
      const first = yield* started(env)
      assert.notMatch(first.output().stdout, unused)
      const session = yield* signIn(first.url)
      const port = yield* Effect.promise(FreePort.find)
      const settings = { url: `http://127.0.0.1:${port}/hook?from=wac`, envelope: "b", eventTypes: ["message.sent"] }
      const { id, signingSecret } = yield* setWebhook({ url: first.url, session }, settings)
      const key = yield* createKey(first.url, session)
      const sent = yield* send({ url: first.url, key }, hello())
      assert.strictEqual(sent.status, 200, sent.text)
      const deliveries = (url: string) => call(`${url}/internal/webhook/deliveries`, { headers: session })
      const { body: { data: [waiting] } } = yield* until(
        deliveries(first.url),
        ({ body }) => body.data[0]?.attemptCount > 0
      )
      assert.deepStrictEqual([waiting.status, waiting.eventType], ["pending", "message.sent"])
      first.child.kill("SIGKILL")
      yield* first.ended

      const receiver = yield* RecordingReceiver.makeOn(port)
      const second = yield* service(env)
      const [url] = /http:\/\/.*/.exec(yield* second.written(/listening on http:\/\/127\.0\.0\.1:\d+/))!
      assert.match(second.output().stdout, unused)
      const { body, headers, target } = yield* receiver.next
      assert.deepStrictEqual([target, headers["webhook-id"]], ["/hook?from=wac", waiting.eventId])
      const verified = yield* Effect.promise(() => verify(body, headers[SIGNATURE_HEADER.toLowerCase()], signingSecret))
      assert.isTrue(verified.ok)
      const event = JSON.parse(new TextDecoder().decode(body))
      assert.strictEqual(event.data.message_id, sent.body.message_id)
      const { body: kept } = yield* call(`${url}/internal/webhook`, { headers: session })
      assert.deepInclude(kept, { id, status: "active", ...settings })
      const { body: { data } } = yield* until(deliveries(url), ({ body }) => body.data[0].status === "delivered")
      assert.deepStrictEqual(data.map(({ eventId }: typeof waiting) => eventId), [waiting.eventId])
      assert.deepStrictEqual((yield* stop(second)).ended, obeyed)
    }).pipe(Effect.scoped))

  it.live(
    "keys, sessions and messages survive a kill, and only the file's owner can read the master key",
    () =>
      Effect.gen(function*() {
        const directory = yield* begun
        const env = { DATABASE_URL: `pglite:${directory}/data` }
        const first = yield* started(env)
        const [session, apiKey, sent] = yield* bash(commandsOf(first.output().stdout))
        assertSent(sent!)
        first.child.kill("SIGKILL")
        yield* first.ended
        assert.strictEqual(statSync(join(directory, "data", "master.key")).mode & 0o777, 0o600)

        const second = yield* service(env)
        const line = yield* second.written(/listening on http:\/\/127\.0\.0\.1:\d+/)
        const url = line.slice("listening on ".length)
        const bearer = { authorization: `Bearer ${apiKey!.trim()}` }
        const { message_id, tenant_id } = JSON.parse(sent!)
        const stored = yield* call(`${url}/v1/messages/${message_id}`, { headers: bearer })
        assert.deepStrictEqual([stored.status, stored.body.tenant_id], [200, tenant_id])
        // the same key again: the answer that was given before the kill
        const replayed = yield* call(`${url}/v1/messages`, {
          headers: { ...bearer, "idempotency-key": "first-send" },
          body: hello()
        })
        assert.deepStrictEqual([replayed.status, replayed.text], [200, sent!.trim()])
        assert.strictEqual(replayed.headers.get("idempotent-replayed"), "true")
        assert.strictEqual(JSON.parse(session!).role, "owner")
        assert.notInclude(second.output().stdout, "Try it")
        assert.include(
          second.output().stdout,
          `sign in at ${url}/; the API is documented at ${url}/docs`
        )
        assert.deepStrictEqual((yield* stop(second)).ended, obeyed)
      }).pipe(Effect.scoped),
    Curl.needed
  )
})
