/**
 * Each example as whoever copies it runs it: in a project of its own, from the packages as they are published.
 */
import * as FreePort from "@wac/testbed/FreePort"
import { execFile, spawn } from "node:child_process"
import { createHmac } from "node:crypto"
import { once } from "node:events"
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { json } from "node:stream/consumers"
import { promisify } from "node:util"
import { afterAll, afterEach, assert, describe, inject, it } from "vitest"
import { root } from "../Published.ts"
import { installDeclared } from "./Packages.ts"

const run = promisify(execFile)
const packed = inject("packed")
const examples = join(root, "examples")
const readme = readFileSync(join(examples, "README.md"), "utf8")
const names = readdirSync(examples, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)

const projects = new Map<string, string>()
afterAll(() => projects.forEach((project) => rmSync(project, { recursive: true })))

/** The project that one has who copied an example and installed what it declares; nothing else can be found in it. */
const projectOf = (name: string): string => {
  const present = projects.get(name)
  if (present !== undefined) return present
  const project = mkdtempSync(join(tmpdir(), `wac-${name}-`))
  projects.set(name, project)
  const isCopied = (path: string) => !/\/(node_modules|test)$/.test(path)
  cpSync(join(examples, name), project, { recursive: true, filter: isCopied })
  installDeclared(packed, project)
  return project
}

/** What the table says to run, but for the variables, which come from the test. */
const commandOf = (name: string): ReadonlyArray<string> => {
  const command = new RegExp(`^\\| \\[${name}\\]\\(.*\`.*?node (.+?)\` +\\|$`, "m").exec(readme)?.[1]
  assert.isDefined(command, `the table does not say how to run ${name}`)
  return command.split(" ")
}

type Environment = Readonly<Record<string, string>>

/** Runs an example that ends by itself. */
const finish = (name: string, environment: Environment = {}, args: ReadonlyArray<string> = []) =>
  run(process.execPath, [...commandOf(name), ...args], { cwd: projectOf(name), env: environment })

const running: Array<() => void> = []
afterEach(() => running.splice(0).forEach((kill) => kill()))

interface Started {
  readonly url: string
  /** Resolves when it has written this. */
  readonly says: (text: string) => Promise<void>
  readonly output: () => string
  /** Asks it to stop, and resolves to its exit code. */
  readonly stop: () => Promise<number | null>
}

/** Starts an example that listens, and waits until it does. */
const start = async (
  name: string,
  environment: Environment = {},
  args = commandOf(name),
  isListening = "listening on "
): Promise<Started> => {
  const port = await FreePort.find()
  const child = spawn(process.execPath, args, {
    cwd: projectOf(name),
    env: { PORT: `${port}`, ...environment },
    stdio: ["ignore", "pipe", "pipe"]
  })
  running.push(() => child.kill("SIGKILL"))
  const exited = once(child, "exit")
  let output = ""
  let wake = () => {}
  const take = (chunk: Buffer) => {
    output += chunk.toString()
    wake()
  }
  child.stdout.on("data", take)
  child.stderr.on("data", take)
  const says = (text: string) =>
    new Promise<void>((resolve, reject) => {
      wake = () => output.includes(text) && resolve()
      wake()
      void exited.then(() => reject(new Error(`${name} ended without "${text}": ${output}`)))
    })
  await says(isListening)
  return {
    url: `http://127.0.0.1:${port}`,
    says,
    output: () => output,
    stop: async () => {
      child.kill("SIGTERM")
      const [code] = await exited
      return code
    }
  }
}

const post = (url: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body)
  })

/** Signs in to a host. Resolves to the headers of the browser's next requests. */
const signIn = async (url: string) => {
  const response = await post(`${url}/sign-in`, { email: "ana@shop.example", password: "correct horse" })
  assert.strictEqual(response.status, 204)
  const [session] = response.headers.getSetCookie()[0]!.split(";")
  return { cookie: session!, "sec-fetch-site": "same-origin" }
}

/** Signs in to a host, and has it issue an API key. */
const keyOf = async (url: string): Promise<string> => {
  const signedIn = await signIn(url)
  const shown = await (await fetch(`${url}/messaging/internal/session`, { headers: signedIn })).json()
  assert.deepInclude(shown, { userId: "42", email: "ana@shop.example", role: "owner" })
  const issued = await post(`${url}/messaging/internal/api-keys`, { name: "test" }, {
    ...signedIn,
    "idempotency-key": "test"
  })
  assert.strictEqual(issued.status, 201)
  return (await issued.json()).apiKey
}

/** How often the events say that a message was sent. */
const timesSent = async (url: string, apiKey: string, messageId: string): Promise<number> => {
  const events = await fetch(`${url}/messaging/v1/events?type=message.sent`, {
    headers: { authorization: `Bearer ${apiKey}` }
  })
  const { data }: { readonly data: ReadonlyArray<{ readonly data: { readonly message_id: string } }> } = await events
    .json()
  return data.filter(({ data }) => data.message_id === messageId).length
}

describe.each(names)("%s", (name) => {
  it("an example's file is at most one screen long", () => {
    for (const file of readdirSync(join(examples, name)).filter((file) => file.endsWith(".ts"))) {
      assert.isAtMost(readFileSync(join(examples, name, file), "utf8").split("\n").length - 1, 60, file)
    }
  })

  it("an example passes the type checker as `tsc --init` configures it", async () => {
    const project = projectOf(name)
    writeFileSync(
      join(project, "tsconfig.json"),
      JSON.stringify({
        compilerOptions: {
          module: "nodenext",
          target: "esnext",
          types: ["node"],
          noEmit: true,
          allowImportingTsExtensions: true,
          erasableSyntaxOnly: true,
          noUncheckedIndexedAccess: true,
          exactOptionalPropertyTypes: true,
          strict: true,
          verbatimModuleSyntax: true,
          isolatedModules: true,
          moduleDetection: "force",
          skipLibCheck: true
        }
      })
    )
    const { stdout } = await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc")], { cwd: project })
      .catch((error: { readonly stdout: string }) => error)
    assert.strictEqual(stdout, "")
  })
})

describe.each(["express-host", "fastify-host", "fetch-host"])("%s", (name) => {
  it("a host serves wac to its own users and to callers, sends once per order, and stops when asked", async () => {
    const { stop, url } = await start(name)
    assert.strictEqual((await fetch(`${url}/messaging/internal/session`)).status, 401)
    assert.strictEqual((await post(`${url}/sign-in`, { email: "ana@shop.example", password: "x" })).status, 401)
    const apiKey = await keyOf(url)

    const ship = () => post(`${url}/orders/1042/shipped`, { name: "Ana", phone: "+15551234567" })
    const [first, second] = [await (await ship()).json(), await (await ship()).json()]
    assert.deepInclude(first, { status: "sent", replayed: false })
    assert.deepStrictEqual(second, { ...first, replayed: true })
    assert.strictEqual(await timesSent(url, apiKey, first.messageId), 1)

    const sent = await post(
      `${url}/messaging/v1/messages`,
      { to: "+15551234567", type: "template", template: { name: "hello_world", language: "en_US" } },
      { authorization: `Bearer ${apiKey}`, "idempotency-key": "caller-1" }
    )
    assert.strictEqual(sent.status, 200)
    assert.strictEqual((await post(`${url}/orders/1043/shipped`, { name: "Ben", phone: "5" })).status, 422)
    assert.strictEqual(await stop(), 0)
  })

  it("a host stops when asked while the dashboard is open in a browser", async () => {
    const { stop, url } = await start(name)
    const stream = await fetch(`${url}/messaging/internal/stream`, { headers: await signIn(url) })
    assert.strictEqual(stream.status, 200)
    const [read, rest] = stream.body!.tee()
    const { value } = await read.getReader().read()
    assert.strictEqual(new TextDecoder().decode(value), ": here\n\n")
    assert.strictEqual(await stop(), 0)
    // the stream was ended, not cut off
    await new Response(rest).text()
  })
})

describe("effect-host", () => {
  it("effect-host sends once, gets a typed error, and reads the outcome", async () => {
    const { stderr, stdout } = await finish("effect-host")
    assert.strictEqual(stderr, "")
    const lines = stdout.trim().split("\n")
    const id = lines[0]!.replace("sent ", "")
    assert.match(id, /^msg_/)
    assert.deepStrictEqual(lines.slice(0, 3).map((line) => line.split(":")[0]), [
      `sent ${id}`,
      `again ${id}`,
      "refused undeliverable"
    ])
    assert.deepStrictEqual(
      lines.filter((line) => line.startsWith("message.") && line.endsWith(id)),
      ["message.sent", "message.delivered", "message.read"].map((type) => `${type} ${id}`)
    )
  })
})

describe("in-memory-test", () => {
  it("the example's own tests pass", async () => {
    const { stdout } = await finish("in-memory-test")
    assert.match(stdout, /pass 8\n/)
    assert.match(stdout, /fail 0\n/)
    assert.match(stdout, /skipped 0\n/)
  })
})

describe("either-door", () => {
  it("the example's own tests pass in the process and over HTTP", async () => {
    const { stdout } = await finish("either-door")
    assert.match(stdout, /pass 4\n/)
    assert.match(stdout, /fail 0\n/)
    assert.match(stdout, /skipped 0\n/)
  })
})

describe("sms-provider", () => {
  /** Starts the example with a gateway that answers in this way. */
  const startWith = async (answer: (text: unknown, response: ServerResponse) => void) => {
    const gateway = createServer((request, response) => {
      void json(request).then((text) => answer(text, response))
    })
    gateway.listen(0, "127.0.0.1")
    await once(gateway, "listening")
    running.push(() => gateway.close())
    const { port } = gateway.address() as AddressInfo
    return start("sms-provider", { GATEWAY_URL: `http://127.0.0.1:${port}`, GATEWAY_TOKEN: "secret" })
  }

  it("a request that is malformed or too large is refused, and the example goes on", async () => {
    const { stop, url } = await startWith((_, response) => void response.writeHead(500).end())
    const authorization = "Bearer secret"
    const ask = async (path: string, init: RequestInit) => (await fetch(url + path, init)).status
    const send = (path: string, body: string, headers = {}) => ask(path, { method: "POST", body, headers })
    assert.strictEqual(await send("/callback", "{"), 404)
    assert.strictEqual(await send("/", "{"), 404)
    assert.strictEqual(await ask("/orders", {}), 400)
    const order = JSON.stringify({ id: "1042", phone: "5" })
    const reply = JSON.stringify({ kind: "reply", id: "in-1", from: "nobody", to: "+15005550100", text: "Hi" })
    for (const body of ["{", "null", "1"]) {
      assert.strictEqual(await send("/orders", body), 400, body)
      assert.strictEqual(await send("/callback", body, { authorization }), 400, body)
    }
    assert.strictEqual(await send("/orders", order), 400)
    assert.strictEqual(await send("/callback", reply, { authorization }), 400)
    const large = JSON.stringify({ id: "1".repeat(65_536), phone: "+15551234567" })
    assert.strictEqual(await send("/orders", large), 400)
    assert.strictEqual(await stop(), 0)
  })

  it("a text that the gateway did not accept yet is certainly not sent, if it names a date as well", async () => {
    const date = "Mon, 30 Nov 2026 09:00:00 GMT"
    const { stop, url } = await startWith((_, response) => void response.writeHead(429, { "retry-after": date }).end())
    assert.strictEqual((await post(`${url}/orders`, { id: "1042", phone: "+15551234567" })).status, 429)
    assert.strictEqual(await stop(), 0)
  })

  it("the example sends a text by the gateway, and takes its callbacks", async () => {
    const texts: Array<{ readonly to: string; readonly text: string; readonly reference: string }> = []
    const { stop, url } = await startWith((text, response) => {
      texts.push(text as (typeof texts)[number])
      response.writeHead(201).end(JSON.stringify({ id: `sms-${texts.length}` }))
    })
    const sent = await (await post(`${url}/orders`, { id: "1042", phone: "+15551234567" })).json()
    assert.deepInclude(sent, { status: "sent", providerMessageId: "sms-1" })
    assert.deepInclude(texts, { to: "+15551234567", text: "Your order 1042 is ready.", reference: sent.messageId })
    const report = { kind: "report", reference: sent.messageId, state: "delivered" }
    assert.strictEqual((await post(`${url}/callback`, report)).status, 404)
    const taken = await post(`${url}/callback`, report, { authorization: "Bearer secret" })
    assert.deepStrictEqual(await taken.json(), { applied: true })
    assert.strictEqual(await stop(), 0)
  })
})

const secret = "whsec_of_the_test"

/** Posts an event as the service does. */
const deliver = (url: string, event: object, { key = secret, changed = "" } = {}) => {
  const body = JSON.stringify(event)
  const timestamp = Math.floor(Date.now() / 1000)
  const signature = createHmac("sha256", key).update(`${timestamp}.${body}`).digest("hex")
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "x-service-signature": `t=${timestamp},v1=${signature}` },
    body: body + changed
  })
}

const delivered = (number: number) => ({
  id: `evt_${number}`,
  object: "event",
  type: "message.delivered",
  created_at: "2026-11-21T09:00:00.000Z",
  tenant_id: "ws_1",
  data: {
    message_id: `msg_${number}`,
    provider_message_id: `p-${number}`,
    to: "+15551234567",
    status: "delivered",
    delivered_at: "2026-11-21T09:00:00.000Z",
    sequence: 2
  }
})

describe("receiver", () => {
  const work = (output: string) => output.match(/msg_\d+ arrived/g)

  it("the example's own tests pass", async () => {
    const { stdout } = await run(process.execPath, ["--test"], { cwd: projectOf("receiver") })
    assert.match(stdout, /pass 3\n/)
    assert.match(stdout, /fail 0\n/)
    assert.match(stdout, /skipped 0\n/)
  })

  it("the receiver processes each verified event once, even if it comes again after a restart", async () => {
    const environment = { WEBHOOK_SECRET: secret, DATABASE: join(projectOf("receiver"), "test.db") }
    const first = await start("receiver", environment)
    const webhook = `${first.url}/webhook`
    const forged = await deliver(webhook, delivered(1), { key: "whsec_of_somebody_else" })
    assert.deepInclude(await forged.json(), { reason: "signature_mismatch" })
    assert.strictEqual((await deliver(webhook, delivered(1), { changed: " " })).status, 400)
    const repeated = await Promise.all([1, 1, 1].map((number) => deliver(webhook, delivered(number))))
    assert.deepStrictEqual(repeated.map(({ status }) => status), [200, 200, 200])
    // one of a type that nobody knows yet is taken as well
    assert.strictEqual((await deliver(webhook, { ...delivered(3), type: "message.newer" })).status, 200)
    await first.says("msg_1 arrived")
    assert.strictEqual(await first.stop(), 0)
    assert.deepStrictEqual(work(first.output()), ["msg_1 arrived"])

    const second = await start("receiver", environment)
    for (const number of [1, 2]) await deliver(`${second.url}/webhook`, delivered(number))
    await second.says("msg_2 arrived")
    assert.strictEqual(await second.stop(), 0)
    assert.deepStrictEqual(work(second.output()), ["msg_2 arrived"])
  })

  it("the receiver starts with a database of its first version, and processes the events left in it", async () => {
    const path = join(projectOf("receiver"), "first.db")
    const database = new DatabaseSync(path)
    database.exec("create table inbox (id text primary key, event text not null, done integer default 0)")
    database.prepare("insert into inbox (id, event) values (?, ?)").run("evt_1", JSON.stringify(delivered(1)))
    database.close()
    const receiver = await start("receiver", { WEBHOOK_SECRET: secret, DATABASE: path })
    await deliver(`${receiver.url}/webhook`, delivered(2))
    await receiver.says("msg_2 arrived")
    assert.strictEqual(await receiver.stop(), 0)
    assert.deepStrictEqual(work(receiver.output()), ["msg_1 arrived", "msg_2 arrived"])
  })
})

describe("receivers", () => {
  const body = JSON.stringify(delivered(1))
  const signed = (at: number) => `t=${at},v1=${createHmac("sha256", secret).update(`${at}.${body}`).digest("hex")}`

  it("the receiver on Node tells a delivery from a changed one", async () => {
    const now = 1_795_000_000
    const checked = run(process.execPath, ["node.ts", "check"], { cwd: projectOf("receivers") })
    const lines = [body, `${body} `].map((sent) =>
      JSON.stringify({ body: Buffer.from(sent).toString("base64"), header: signed(now), now, secret })
    )
    checked.child.stdin!.end(`${lines.join("\n")}\n`)
    assert.strictEqual((await checked).stdout, "ok\nrefused\n")
  })

  it("the receiver on hosts of fetch accepts a delivery and refuses a changed one", async () => {
    const script = `
      import receiver from "./fetch.ts"
      const { BODY, HEADER } = process.env
      for (const body of [BODY, BODY + " "]) {
        const headers = { "content-type": "application/json", "x-service-signature": HEADER }
        const request = new Request("http://localhost/", { method: "POST", body, headers })
        console.log((await receiver.fetch(request, process.env, { waitUntil: () => {} })).status)
      }`
    const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", script], {
      cwd: projectOf("receivers"),
      env: { BODY: body, HEADER: signed(Math.floor(Date.now() / 1000)), WEBHOOK_SECRET: secret }
    })
    assert.deepStrictEqual(stdout.trimEnd().split("\n"), [
      "msg_1 arrived at 2026-11-21T09:00:00.000Z",
      "200",
      "400"
    ])
  })
})

describe("caller", () => {
  it("the caller sends once per order however often it runs, and prints why a send is refused", async () => {
    const host = await start("express-host")
    const apiKey = await keyOf(host.url)
    const environment = { WAC_URL: `${host.url}/messaging/v1`, WAC_API_KEY: apiKey }
    const [first, second] = [await finish("caller", environment), await finish("caller", environment)]
    const [id] = first.stdout.split(" ")
    assert.match(id!, /^msg_/)
    assert.include(first.stdout, "message.sent evt_")
    assert.strictEqual(second.stdout.split(" ")[0], id)
    assert.strictEqual(await timesSent(host.url, apiKey, id!), 1)
    const refused: { readonly code: number; readonly stderr: string } = await finish("caller", environment, ["7", "5"])
      .then(() => assert.fail("it was not refused"), (error) => error)
    assert.strictEqual(refused.code, 1)
    assert.match(refused.stderr, /^invalid_body invalid_field to: .+ \(req_/)
    assert.strictEqual(await host.stop(), 0)
  })
})
