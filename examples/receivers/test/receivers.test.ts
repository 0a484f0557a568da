import * as FreePort from "@wac/testbed/FreePort"
import * as Program from "@wac/testbed/Program"
import { sign, SIGNATURE_HEADER } from "@wac/verifier"
import { exampleEvent, signDelivery } from "@wac/verifier/testing"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { assert, describe, it, vi } from "vitest"
import fetchReceiver from "../fetch.ts"
import { handler as lambda } from "../lambda.ts"
import { POST } from "../next.ts"

const folder = new URL("../", import.meta.url).pathname

interface Vectors {
  readonly secret: string
  readonly previousSecret: string
  readonly timestamp: number
  readonly deliveries: ReadonlyArray<{
    readonly name: string
    readonly bytesBase64: string
    readonly header: string
    readonly rotationHeader: string
  }>
  readonly published: {
    readonly signature: {
      readonly secret: string
      readonly timestamp: number
      readonly body: string
      readonly header: string
    }
  }
}

const vectors: Vectors = JSON.parse(
  readFileSync(new URL("../../../packages/verifier/test/vectors.json", import.meta.url), "utf8")
)
const { deliveries, previousSecret, published, secret, timestamp } = vectors

interface Case {
  readonly name: string
  readonly body: string
  readonly header: string
  readonly secret: string
  readonly now: number
  readonly expected: "ok" | "refused"
}

/** All shared vectors, and what each of them must not be taken for. */
const cases: ReadonlyArray<Case> = [
  ...deliveries.flatMap(({ bytesBase64: body, header, name, rotationHeader }): ReadonlyArray<Case> => {
    const good = { body, header, secret, now: timestamp, expected: "ok" } as const
    const changed = Buffer.concat([Buffer.from(body, "base64"), Buffer.from(" ")]).toString("base64")
    const [t, v1] = header.split(",") as [string, string]
    return [
      { ...good, name },
      { ...good, name: `${name}, under both secrets`, header: rotationHeader },
      { ...good, name: `${name}, under both secrets, by the previous`, header: rotationHeader, secret: previousSecret },
      { ...good, name: `${name}, 300 seconds old`, now: timestamp + 300 },
      { ...good, name: `${name}, 300 seconds ahead`, now: timestamp - 300 },
      { ...good, name: `${name}, a scheme that is not known beside it`, header: `${header},v0=00` },
      ...([
        { ...good, name: `${name}, 301 seconds old`, now: timestamp + 301 },
        { ...good, name: `${name}, 301 seconds ahead`, now: timestamp - 301 },
        { ...good, name: `${name}, with one byte more`, body: changed },
        { ...good, name: `${name}, under another secret`, secret: previousSecret },
        { ...good, name: `${name}, at another time`, header: `t=${timestamp + 1},${v1}` },
        { ...good, name: `${name}, with two times`, header: `${header},${t}` },
        { ...good, name: `${name}, without a time`, header: v1 },
        { ...good, name: `${name}, without a signature`, header: t },
        { ...good, name: `${name}, with an empty signature`, header: `${t},v1=` },
        { ...good, name: `${name}, cut short`, header: header.slice(0, -1) },
        { ...good, name: `${name}, without a header`, header: "" },
        { ...good, name: `${name}, without a secret`, secret: "" }
      ].map((each) => ({ ...each, expected: "refused" as const })))
    ]
  }),
  {
    name: "published",
    body: Buffer.from(published.signature.body).toString("base64"),
    header: published.signature.header,
    secret: published.signature.secret,
    now: published.signature.timestamp,
    expected: "ok"
  }
]

const event = {
  id: "evt_01KDZ8J3M5Q2V7XWBN4T6R9GHC",
  object: "event",
  type: "message.delivered",
  created_at: "2026-01-02T03:04:05.000Z",
  tenant_id: "ws_1",
  data: { message_id: "msg_1", delivered_at: "2026-01-02T03:04:05.000Z", client_reference: "olá 👋" }
}
const body = JSON.stringify(event)

interface Language {
  readonly needs: ReadonlyArray<Program.Check>
  /** The command that installs them. */
  readonly install: string
  readonly check: (temporary: string) => readonly [command: string, ...args: ReadonlyArray<string>]
  readonly serve: (temporary: string, port: number) => readonly [command: string, ...args: ReadonlyArray<string>]
  /** The requests without an end that the language's own server reads, before it calls the receiver. */
  readonly waits?: ReadonlyArray<string>
}

const compiled = (temporary: string, ...args: ReadonlyArray<string>) =>
  [
    "sh",
    "-c",
    `mcs -out:${temporary}/receiver.exe receiver.cs && exec mono ${temporary}/receiver.exe ${args.join(" ")}`
  ] as const

const languages: { readonly [name: string]: Language } = {
  Node: {
    needs: [],
    install: "",
    check: () => [process.execPath, "--conditions=source", "node.ts", "check"],
    serve: () => [process.execPath, "--conditions=source", "node.ts"]
  },
  Python: {
    needs: [["python3", "--version"]],
    install: "apt-get install python3, brew install python",
    check: () => ["python3", "receiver.py", "check"],
    serve: () => ["python3", "receiver.py"]
  },
  PHP: {
    needs: [["php", "--version"]],
    install: "apt-get install php-cli, brew install php",
    check: () => ["php", "receiver.php", "check"],
    // without the machine's settings, PHP shows its warnings in the answer
    serve: (_, port) => ["php", "-n", "-S", `127.0.0.1:${port}`, "receiver.php"],
    waits: ["chunks", "a line"]
  },
  Ruby: {
    needs: [["ruby", "--version"]],
    install: "apt-get install ruby, brew install ruby",
    check: () => ["ruby", "receiver.rb", "check"],
    serve: () => ["ruby", "receiver.rb"]
  },
  Go: {
    needs: [["go", "version"]],
    install: "apt-get install golang-go, brew install go",
    check: () => ["go", "run", "receiver.go", "check.go", "check"],
    // `go run` would leave the receiver behind when it is stopped itself
    serve: (temporary) => ["sh", "-c", `go build -o ${temporary}/receiver receiver.go && exec ${temporary}/receiver`]
  },
  Java: {
    needs: [["javac", "--version"]],
    install: "apt-get install default-jdk-headless, brew install openjdk",
    check: () => ["java", "Receiver.java", "check"],
    serve: () => ["java", "Receiver.java"]
  },
  "C#": {
    needs: [["mcs", "--version"], ["mono", "--version"]],
    install: "apt-get install mono-mcs mono-runtime, brew install mono",
    check: (temporary) => compiled(temporary, "check"),
    serve: (temporary) => compiled(temporary),
    waits: ["a line"]
  }
}

/** The answer of a receiver that may still be starting. */
const untilUp = async (child: ChildProcess, send: () => Promise<Response>): Promise<Response> => {
  for (;;) {
    try {
      return await send()
    } catch (error) {
      if (child.exitCode !== null) throw error
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}

/** A receiver that runs. */
interface Served {
  readonly header: string
  readonly inbox: string
  readonly port: number
  readonly send: (header: string, sent?: string) => Promise<Response>
}

const start = "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n"
const line = `${"x".repeat(1000)}\r\n`

/** Requests of anybody, more than a receiver may read before it knows who sends them. */
const endless: { readonly [what: string]: string } = {
  "a negative length": `${start}Content-Length: -1\r\n\r\n{`,
  "chunks": `${start}Transfer-Encoding: chunked\r\n\r\n${`3e8\r\n${line}`.repeat(3000)}`,
  "headers": `${start}${`name: ${line}`.repeat(3000)}`,
  "a line": `POST /${line.trimEnd().repeat(3000)}`
}

/** Waits until the receiver answers or hangs up, although the request has no end. */
const refused = (port: number, request: string): Promise<void> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => void socket.write(request))
    const done = () => {
      resolve()
      socket.destroy()
    }
    socket.on("data", done).on("error", done).on("close", done)
  })

for (const [name, { check, install, needs, serve, waits }] of Object.entries(languages)) {
  describe(name, Program.needed({ programs: needs, untested: `the receiver in ${name}`, install }), () => {
    const inTemporary = async (use: (temporary: string) => Promise<void> | void) => {
      const temporary = mkdtempSync(`${tmpdir()}/receiver-`)
      try {
        await use(temporary)
      } finally {
        rmSync(temporary, { recursive: true })
      }
    }

    it(`valid and invalid deliveries are told apart in ${cases.length} of the shared vectors`, () =>
      inTemporary((temporary) => {
        const [command, ...args] = check(temporary)
        const { status, stderr, stdout } = spawnSync(command, args, {
          cwd: folder,
          input: cases.map((each) => `${JSON.stringify(each)}\n`).join(""),
          encoding: "utf8"
        })
        assert.strictEqual(status, 0, stderr)
        const found = stdout.trimEnd().split("\n")
        assert.deepEqual(
          cases.map(({ name }, i) => [name, found[i]]),
          cases.map(({ expected, name }) => [name, expected])
        )
      }))

    /** Has a receiver running, which has refused a delivery. */
    const served = (use: (receiver: Served) => Promise<void>) =>
      inTemporary(async (temporary) => {
        const port = await FreePort.find()
        const [command, ...args] = serve(temporary, port)
        const inbox = `${temporary}/inbox`
        const child = spawn(command, args, {
          cwd: folder,
          env: { ...process.env, WEBHOOK_SECRET: secret, PORT: `${port}`, INBOX: inbox },
          stdio: "ignore"
        })
        try {
          const send = (header: string, sent = body) =>
            fetch(`http://127.0.0.1:${port}/`, {
              method: "POST",
              body: sent,
              headers: { "content-type": "application/json", [SIGNATURE_HEADER]: header },
              signal: AbortSignal.timeout(5000)
            })
          const header = await sign(body, secret)
          assert.strictEqual((await untilUp(child, () => send(header, `${body} `))).status, 400)
          await use({ header, inbox, port, send })
        } finally {
          child.kill()
          if (child.exitCode === null && child.signalCode === null) await once(child, "exit")
        }
      })

    it("an event is stored once and gets 200 in time, however often it comes, and a forged one gets 400", () =>
      served(async ({ header, inbox, port, send }) => {
        const sent = await Promise.all([1, 2, 3, 4, 5].map(() => send(header)))
        assert.deepEqual(sent.map(({ status }) => status), [200, 200, 200, 200, 200])
        const old = await sign(body, secret, Math.floor(Date.now() / 1000) - 400)
        for (const refused of [old, "", await sign(body, previousSecret)]) {
          assert.strictEqual((await send(refused)).status, 400)
        }
        assert.deepEqual(readdirSync(inbox), [`${event.id}.json`])
        assert.deepEqual(JSON.parse(readFileSync(`${inbox}/${event.id}.json`, "utf8")), event)
        const another = JSON.stringify({ ...event, id: "evt_2" })
        assert.strictEqual((await send(await sign(another, [secret, previousSecret]), another)).status, 200)
        const { id: _, ...rest } = event
        const last = JSON.stringify({ ...rest, id: "evt_3" })
        assert.strictEqual((await send(await sign(last, secret), last)).status, 200)
        // the envelope `b` has no id: an event that could not be stored must come again
        const data = { id: "evt_4", text: "{\\\"id\\\":\\\"evt_5\\\", \"id\":\"evt_6\"" }
        const withoutId = { type: event.type, tenant_id: event.tenant_id, data }
        for (const sent of [withoutId, [event], { ...withoutId, id: null }, { ...withoutId, id: "../evt_7" }]) {
          const text = JSON.stringify(sent)
          assert.strictEqual((await send(await sign(text, secret), text)).status, 400, text)
        }
        // what the guide has a receiver's own tests send
        const example = exampleEvent("message.delivered")
        const { status } = await fetch(`http://127.0.0.1:${port}/`, await signDelivery({ payload: example, secret }))
        assert.strictEqual(status, 200)
        assert.sameMembers(
          readdirSync(inbox),
          [event.id, "evt_2", "evt_3", example.id].map((id) => `${id}.json`)
        )
      }))

    it("an event that cannot be stored does not get 200, and is stored when it comes again", () =>
      served(async ({ header, inbox, send }) => {
        rmSync(inbox, { force: true, recursive: true })
        writeFileSync(inbox, "")
        const status = await send(header).then((response) => response.status, () => "closed")
        assert.include(["closed", 500, 503], status)
        rmSync(inbox)
        mkdirSync(inbox)
        assert.strictEqual((await send(header)).status, 200)
        assert.deepEqual(readdirSync(inbox), [`${event.id}.json`])
      }))

    it("a request without an end is refused before its end, and the next event is stored", () =>
      served(async ({ header, inbox, port, send }) => {
        for (const [what, request] of Object.entries(endless)) {
          if (waits?.includes(what) !== true) await refused(port, request)
        }
        assert.strictEqual((await send(header)).status, 200)
        assert.deepEqual(readdirSync(inbox), [`${event.id}.json`])
      }))
  })
}

describe("fetch", () => {
  it("the secret comes from the process if the host passes no environment", async () => {
    const another = JSON.stringify({ ...event, id: "evt_3" })
    const send = async (signedWith: string) => {
      const headers = { [SIGNATURE_HEADER]: await sign(another, signedWith) }
      return fetchReceiver.fetch(new Request("http://host/", { method: "POST", body: another, headers }))
    }
    process.env["WEBHOOK_SECRET"] = secret
    try {
      assert.strictEqual((await send(secret)).status, 200)
      assert.strictEqual((await send(previousSecret)).status, 400)
    } finally {
      delete process.env["WEBHOOK_SECRET"]
    }
  })

  it("an event is worked on until the work succeeds, then never again, and a forged one gets 400", async () => {
    const send = async (header: string) =>
      (await fetchReceiver.fetch(
        new Request("http://host/", { method: "POST", body, headers: { [SIGNATURE_HEADER]: header } }),
        { WEBHOOK_SECRET: secret }
      )).status
    const reported = vi.spyOn(console, "error").mockImplementation(() => {})
    const log = vi.spyOn(console, "log").mockImplementation(() => {}).mockImplementationOnce(() => {
      throw new Error("the database is down")
    })
    try {
      const header = await sign(body, secret)
      const statuses = []
      for (const each of [header, header, await sign(body, [previousSecret, secret])]) statuses.push(await send(each))
      assert.deepEqual(statuses, [500, 200, 200])
      assert.strictEqual(await send(await sign(body, previousSecret)), 400)
      assert.lengthOf(log.mock.calls, 2)
    } finally {
      log.mockRestore()
      reported.mockRestore()
    }
  })
})

describe("on serverless hosts", () => {
  const environment = (use: () => Promise<void>) => async () => {
    process.env["WEBHOOK_SECRET"] = secret
    const log = vi.spyOn(console, "log").mockImplementation(() => {})
    try {
      await use()
      assert.deepEqual(log.mock.calls, [[event.type, event.id]])
    } finally {
      log.mockRestore()
      delete process.env["WEBHOOK_SECRET"]
    }
  }

  it(
    "Lambda stores an event once, as text and in base64, and refuses one that was changed",
    environment(async () => {
      const headers = { [SIGNATURE_HEADER.toLowerCase()]: await sign(body, secret) }
      const encoded = Buffer.from(body).toString("base64")
      const statuses = []
      for (
        const [sent, isBase64Encoded] of [[`${body} `, false], [body, true], [body, false], [encoded, true]] as const
      ) {
        statuses.push((await lambda({ headers, body: sent, isBase64Encoded })).statusCode)
      }
      statuses.push((await lambda({ headers, isBase64Encoded: false })).statusCode)
      assert.deepEqual(statuses, [400, 400, 200, 200, 400])
    })
  )

  it(
    "Next's route handler stores an event once, and refuses one that was changed",
    environment(async () => {
      const headers = { [SIGNATURE_HEADER]: await sign(body, secret) }
      const statuses = []
      for (const sent of [`${body} `, body, body]) {
        statuses.push((await POST(new Request("http://host/webhook", { method: "POST", body: sent, headers }))).status)
      }
      assert.deepEqual(statuses, [400, 200, 200])
    })
  )
})
