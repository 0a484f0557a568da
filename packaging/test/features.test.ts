/**
 * Every optional feature of the packed server, which is a bundle: what it loads lazily exists only there. A variable
 * that no trial here sets fails. Beside it the packed façade, by a host that uses every option and export.
 */
import * as PostgresServer from "@wac/testbed/PostgresServer"
import type { Options } from "@wac/testbed/Program"
import { verify } from "@wac/verifier"
import { execFile } from "node:child_process"
import { randomBytes } from "node:crypto"
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, inject, it, onTestFinished } from "vitest"
import * as Variable from "../../apps/server/src/Variable.ts"
import { type Answer, call, did, owner, ownPage, people, send, signedIn } from "./Caller.ts"
import type { Around } from "./facadeTrial.ts"
import { install } from "./Packages.ts"
import * as PackedOnNodes from "./PackedOnNodes.ts"
import type * as PackedServer from "./PackedServer.ts"
import * as Surroundings from "./Surroundings.ts"

let around: Surroundings.Surroundings
const { nodeOf, packed } = PackedOnNodes.install()

/** What every trial has, unless it sets something else. */
const base = {
  DATABASE_URL: "memory:",
  WAC_OWNER_EMAIL: owner.email,
  WAC_OWNER_PASSWORD: owner.password,
  WAC_WORKSPACE_NAME: "Trial",
  WEBHOOK_ALLOW_INSECURE: "true",
  WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8"
}

/** One pixel. */
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8/x8AAwMCAO+ip1sAAAAASUVORK5CYII=",
  "base64"
)

/** Uploads a file, and gets it back. */
const keepFile = async (url: string, authorization: string): Promise<void> => {
  const form = new FormData()
  form.append("file", new Blob([png]), "a.png")
  const { body } = await did(`${url}/v1/media`, {
    method: "POST",
    headers: { authorization, "idempotency-key": crypto.randomUUID() },
    body: form
  })
  assert.strictEqual(body.mime_type ?? body.content_type, "image/png")
  const got = await fetch(`${url}/v1/media/${body.media_id}`, { headers: { authorization } })
  assert.deepStrictEqual(Buffer.from(await got.arrayBuffer()), png)
}

/** The way of a person through an issuer that asks them to sign in and to consent, back to the page after it. */
const throughIssuer = async (url: string): Promise<{ readonly place: string; readonly session: Answer }> => {
  const jar = new Map<string, string>()
  const go = async (place: string, form?: Record<string, string>) => {
    const answer = await call(place, {
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; ") },
      ...(form === undefined ? {} : { method: "POST", body: new URLSearchParams(form) })
    })
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!
      jar.set(name!, value!)
    }
    return answer
  }
  let place = `${url}/internal/oidc/sign-in`
  for (let step = 0; !place.startsWith(`${url}/dashboard`); step++) {
    assert.isBelow(step, 12)
    let answer = await go(place)
    if (answer.status === 200) {
      const prompt = /name="prompt" value="(\w+)"/.exec(answer.text)![1]!
      answer = await go(place, { prompt, ...(prompt === "login" ? { login: "ada", password: "x" } : {}) })
    }
    assert.isNotNull(answer.headers.get("location"), answer.text)
    place = new URL(answer.headers.get("location")!, place).href
  }
  return { place, session: await go(`${url}/internal/session`) }
}

const masterKey = randomBytes(32).toString("base64")

const metricsToken = "a-token-for-metrics"

/** A feature, the variables that turn it on, and what it must then do. */
interface Feature {
  readonly name: string
  readonly options?: Options
  readonly variables: () => PackedServer.Variables
  readonly trial: (server: PackedServer.Listening, restart: () => Promise<PackedServer.Listening>) => Promise<void>
}

const features: ReadonlyArray<Feature> = [
  {
    name: "telemetry reaches a collector",
    variables: () => ({
      OTEL_EXPORTER_OTLP_ENDPOINT: around.collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: "x-tenant=trial",
      OTEL_SERVICE_NAME: "a-service",
      OTEL_RESOURCE_ATTRIBUTES: "team=a-team",
      OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "1",
      OTEL_TRACES_EXPORTER: "otlp",
      OTEL_METRICS_EXPORTER: "otlp",
      OTEL_LOGS_EXPORTER: "otlp",
      OTEL_SDK_DISABLED: "false"
    }),
    trial: async ({ stop, url }) => {
      await signedIn(url)
      // what was not told yet is told when the server stops
      await stop()
      const told = (path: string) =>
        around.collector.posts.filter((post) => post.path === path).map(({ body }) => body).join()
      assert.include(told("/v1/traces"), "\"name\":\"POST /internal/session\"")
      assert.include(told("/v1/metrics"), "wac_")
      for (const word of ["a-service", "a-team"]) assert.include(told("/v1/traces"), word)
      assert.isTrue(around.collector.posts.every(({ headers }) => headers["x-tenant"] === "trial"))
      assert.include(told("/v1/logs"), "storage is memory")
    }
  },
  {
    name: "mail is sent",
    variables: () => ({ SMTP_URL: around.mail.url, SMTP_FROM: "wac@example.com" }),
    trial: async ({ url }) => {
      await did(`${url}/internal/password/reset-request`, { headers: ownPage, json: { email: owner.email } })
      await Surroundings.until("the mail", () => around.mail.mails.find(({ to }) => to.includes(owner.email)))
    }
  },
  {
    name: "people sign in at an issuer",
    variables: () => ({
      AUTH: "oidc",
      OIDC_ISSUER: around.oidc.url,
      OIDC_CLIENT_ID: "wac",
      OIDC_CLIENT_SECRET: around.oidc.clientSecret,
      OIDC_ROLE_CLAIM: "wac_roles"
    }),
    trial: async ({ url }) => {
      const { session } = await throughIssuer(url)
      assert.deepInclude(session.body, { email: "ada@example.com", role: "admin" })
    }
  },
  {
    name: "files are in an object store",
    variables: () => ({
      MEDIA_STORE: `s3://${around.s3.bucket}/trial`,
      MEDIA_INBOUND: "on_demand",
      AWS_ENDPOINT_URL: around.s3.endpoint,
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: "id",
      AWS_SECRET_ACCESS_KEY: "secret",
      AWS_SESSION_TOKEN: "token"
    }),
    trial: async ({ url }) => {
      const { authorization } = await people(url)
      await keepFile(url, authorization)
      assert.isNotEmpty(await around.s3.keys())
    }
  },
  {
    name: "an agent has tools over HTTP and over standard input and output",
    variables: () => ({}),
    trial: async ({ url }) => {
      const { authorization } = await people(url)
      const message = (id: number, method: string, params: object) => ({ jsonrpc: "2.0", id, method, params })
      const messages = [
        message(1, "initialize", {
          protocolVersion: "2025-11-25",
          capabilities: {},
          clientInfo: { name: "trial", version: "1" }
        }),
        message(2, "tools/list", {})
      ]
      const check = (answers: ReadonlyArray<Answer["body"]>) => {
        assert.strictEqual(answers.find(({ id }) => id === 1).result.serverInfo.name, "wac")
        const { tools } = answers.find(({ id }) => id === 2).result
        assert.include(tools.map(({ name }: { readonly name: string }) => name), "send_template")
      }
      const overHttp = await Promise.all(
        messages.map((json) => did(`${url}/mcp`, { headers: { authorization }, json }))
      )
      check(overHttp.map(({ body }) => body))
      writeFileSync(join(packed().directory, "agent.key"), authorization.replace("Bearer ", ""))
      const variables = { WAC_URL: `${url}/v1`, WAC_API_KEY_FILE: "agent.key" }
      const input = messages.map((one) => JSON.stringify(one)).join("\n")
      const { code, stderr, stdout } = await packed().run(process.execPath, ["mcp"], variables, input)
      assert.deepStrictEqual([code, stderr], [0, ""])
      check(stdout.trim().split("\n").map((line) => JSON.parse(line)))
    }
  },
  {
    name: "messages are sent through the Cloud API",
    variables: () => around.whatsApp.environment,
    trial: async ({ url }) => {
      const { authorization, session } = await people(url)
      await did(`${url}/internal/templates/sync`, { method: "POST", headers: session })
      assert.strictEqual((await send(url, authorization)).body.status, "sent")
    }
  },
  {
    name: "an embedded database keeps what is sent, and files",
    variables: () => ({ DATABASE_URL: "pglite:embedded", WAC_SETUP_FILE: "setup", LOG_LEVEL: "debug" }),
    trial: async ({ stop, url }, restart) => {
      const { authorization } = await people(url)
      const { body } = await send(url, authorization)
      await keepFile(url, authorization)
      await stop()
      const again = await restart()
      await did(`${again.url}/v1/messages/${body.message_id}`, { headers: { authorization } })
    }
  },
  {
    name: "a database server, a rate card, metrics, alerts and the pages work together with every setting",
    variables: () => {
      writeFileSync(
        join(packed().directory, "card.csv"),
        "market,category,currency,price,valid from\n*,marketing,EUR,0.1,2026-01-31\n"
      )
      writeFileSync(join(packed().directory, "master.key"), `${masterKey}\n`)
      return {
        HOST: "127.0.0.1",
        PORT: "0",
        DATABASE_URL: around.postgres.url,
        DATABASE_LISTEN_URL: around.postgres.url,
        DATABASE_SCHEMA: "trial",
        PROVIDER: "sandbox",
        WAC_MASTER_KEY_FILE: "master.key",
        WAC_MASTER_KEY_PREVIOUS: randomBytes(32).toString("base64"),
        WAC_LIMITS: "{\"defaults\":{\"monthlyQuota\":10000}}",
        WAC_RATE_CARD: "card.csv",
        WAC_RESTORED: "false",
        RETENTION: "{\"events\":3}",
        TRUST_PROXY: "10.0.0.0/8",
        METRICS_TOKEN: metricsToken,
        ALERT_URL: around.alerts.url,
        SMTP_URL: around.mail.url,
        SMTP_FROM: "wac@example.com",
        PORTAL_ORIGINS: "https://app.example.com",
        SECURITY_CONTACT: "security@example.com",
        LOG_FORMAT: "json",
        PUBLIC_URL: "http://127.0.0.1:0"
      }
    },
    trial: async ({ stop, url }, restart) => {
      const { authorization, session } = await people(url)
      const { body: { signingSecret } } = await did(`${url}/internal/webhook`, {
        headers: session,
        json: { url: around.receiver.url },
        method: "PUT"
      })
      const { body: { message_id } } = await send(url, authorization)
      const post = await Surroundings.until(
        "the event",
        () => around.receiver.posts.find(({ body }) => body.includes(message_id))
      )
      assert.isTrue((await verify(post.body, `${post.headers["x-service-signature"]}`, signingSecret)).ok)
      const metrics = await did(`${url}/metrics`, { headers: { authorization: `Bearer ${metricsToken}` } })
      assert.include(metrics.text, "wac_")
      for (const page of ["/dashboard", "/docs", "/openapi.json", "/.well-known/security.txt"]) await did(url + page)
      const list = await did(`${url}/llms.txt`, {})
      const documents = [...list.text.matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => new URL(target!).pathname)
      assert.includeMembers(documents, ["/docs/quick-start.md", "/docs/errors.md"])
      for (const document of documents) await did(url + document)
      await did(`${url}/internal/usage`, { headers: session })
      await did(`${url}/internal/alerts/settings`, {
        headers: session,
        json: { emails: ["on-call@example.com"], url: null },
        method: "PUT"
      })
      await did(`${url}/internal/webhook/pause`, { method: "POST", headers: session })
      await stop()
      // a server looks for what it has to alert of a minute after its start
      await restart()
      const { body } = await Surroundings.until("the alert", () => around.alerts.posts[0])
      assert.deepInclude(JSON.parse(body).data, { kind: "webhook_paused" })
      await Surroundings.until(
        "the alert's mail",
        () => around.mail.mails.find(({ to }) => to.includes("on-call@example.com"))
      )
    }
  }
]

describe.each(PackedOnNodes.versions)("on Node %s", (version) => {
  // each has its own, in which nothing is left of the one before
  beforeAll(async () => {
    around = await Surroundings.start()
  })
  afterAll(() => around.close())

  it("a trial sets every variable that the server reads", () => {
    const set = new Set([base, ...features.map(({ variables }) => variables())].flatMap(Object.keys))
    const isSet = (name: string) => set.has(name) || set.has(`${name}_FILE`)
    assert.deepStrictEqual(Variable.names.filter((name) => !isSet(name)), [])
  })

  describe("the packed server", () => {
    const node = () => nodeOf(version)

    for (const { name, trial, variables } of features) {
      it(name, async () => {
        const environment = { ...base, ...variables() }
        const start = () => packed().start(node(), environment)
        const servers = [await start()]
        try {
          await trial(servers[0]!, async () => {
            servers.push(await start())
            return servers.at(-1)!
          })
        } finally {
          for (const { stop } of servers) await stop()
        }
      })
    }

    it("a rate card that cannot be read ends the start with its variable", async () => {
      writeFileSync(
        join(packed().directory, "bad.csv"),
        "market,category,currency,price,valid from\nDE,,USD,1,2026-01-01\n"
      )
      const { code, stderr } = await packed().run(node(), ["start"], { ...base, PORT: "0", WAC_RATE_CARD: "bad.csv" })
      assert.strictEqual(code, 1)
      assert.match(stderr, /^wac: WAC_RATE_CARD: /)
    })
  })

  describe("the packed façade", () => {
    it("a host can use every option, every export and every part of an instance", async () => {
      const project = mkdtempSync(join(tmpdir(), "wac-facade-"))
      onTestFinished(() => rmSync(project, { recursive: true }))
      writeFileSync(join(project, "package.json"), "{\"type\":\"module\"}")
      install(inject("packed"), project, ["wac"])
      copyFileSync(join(import.meta.dirname, "facadeTrial.ts"), join(project, "host.ts"))
      const postgres = await PostgresServer.start("fsync=off")
      onTestFinished(postgres.remove)
      const { environment } = around.whatsApp
      const AROUND: Around = {
        postgres: postgres.url,
        directory: join(project, "embedded"),
        store: { url: `s3://${around.s3.bucket}/facade`, endpoint: around.s3.endpoint },
        whatsApp: {
          accessToken: environment["WHATSAPP_ACCESS_TOKEN"]!,
          appSecret: environment["WHATSAPP_APP_SECRET"]!,
          baseUrl: environment["WHATSAPP_BASE_URL"]!,
          businessAccountId: environment["WHATSAPP_BUSINESS_ACCOUNT_ID"]!,
          phoneNumberId: environment["WHATSAPP_PHONE_NUMBER_ID"]!,
          verifyToken: environment["WHATSAPP_VERIFY_TOKEN"]!
        }
      }
      await promisify(execFile)(nodeOf(version), ["host.ts"], {
        cwd: project,
        env: { PATH: process.env["PATH"], AROUND: JSON.stringify(AROUND) }
      })
      assert.isNotEmpty((await around.s3.keys()).filter((key) => key.startsWith("facade/")))
    })
  })
})
