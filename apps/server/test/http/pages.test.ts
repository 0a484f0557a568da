/**
 * The pages for people: what is running and where to go, and the set-up from its link to a first API key.
 */
import { assert, describe, it } from "@effect/vitest"
import { Setup } from "@wac/core"
import { Context, Effect, Redacted } from "effect"
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { runInNewContext } from "node:vm"
import { type Answer, call, ownPage, ready, send, start } from "../harness.ts"

const noOwner = { environment: { WAC_OWNER_EMAIL: "", WAC_OWNER_PASSWORD: "" } }

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))

/** Every address that a page leads to. */
const linksOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/href="([^"#]+)"/g)].map(([, address]) => address!)

/** Runs a shell's commands as a person pastes them, who then types their password. */
const shell = (commands: string, input: string): Effect.Effect<string> =>
  Effect.promise(() =>
    new Promise((resolve) => {
      const directory = mkdtempSync(join(tmpdir(), "wac-pages-"))
      const child = spawn("bash", ["-c", commands], { cwd: directory, stdio: ["pipe", "pipe", "inherit"] })
      let output = ""
      child.stdout.on("data", (text) => output += text)
      child.on("close", () => {
        rmSync(directory, { recursive: true })
        resolve(output)
      })
      child.stdin.end(`${input}\n`)
    })
  )

/** A form that is filled in, in what a browser's page has that the script of ours uses. */
const fillIn = (script: string, address: string, fields: { readonly [name: string]: string }) => {
  const elements = new Map<string, { hidden: boolean; textContent: string; [member: string]: unknown }>()
  let submit: ((event: { readonly preventDefault: () => void }) => Promise<void>) | undefined
  const element = (selector: string) => {
    const found = elements.get(selector) ??
      {
        hidden: selector === "section",
        textContent: "",
        querySelector: element,
        addEventListener: (_: string, listener: typeof submit) => submit = listener
      }
    elements.set(selector, found)
    return found
  }
  runInNewContext(script, {
    URL,
    location: new URL(address),
    document: { querySelector: element },
    FormData: class {
      *[Symbol.iterator]() {
        yield* Object.entries(fields)
      }
    },
    // as a browser does it, on a page of ours
    fetch: (path: string, init: RequestInit) =>
      fetch(new URL(path, address), { ...init, headers: { ...init.headers as Record<string, string>, ...ownPage } })
  })
  return Effect.promise(async () => {
    await submit!({ preventDefault: () => {} })
    return element
  })
}

describe("the first page", () => {
  it.live("says what is running, which version, and where to go; every link leads somewhere", () =>
    Effect.gen(function*() {
      const { url } = yield* start()
      for (const path of ["/", "/setup", "/docs/errors"]) {
        const { text } = yield* call(url + path)
        assert.include(linksOf(text).map((link) => new URL(link, url + path).pathname), "/favicon.svg")
        for (const link of linksOf(text)) {
          assert.strictEqual((yield* call(new URL(link, url + path).href)).status, 200, `${path} ${link}`)
        }
      }
      const { text } = yield* call(url)
      assert.include(text, `wac ${version}`)
      assert.include(text, "sends WhatsApp messages")
      assert.include(text, "POST /internal/session")
      for (const link of ["docs", "openapi.json", "docs/errors", "readyz", "healthz"]) {
        assert.include(linksOf(text), link)
      }
      const icon = yield* call(`${url}/favicon.ico`)
      assert.deepStrictEqual([icon.status, icon.headers.get("content-type")], [200, "image/svg+xml"])
    }).pipe(Effect.scoped))
})

describe("an error about one of several words", () => {
  it.live("lists the words, wherever in a body or a query it is", () =>
    Effect.gen(function*() {
      const server = yield* ready()
      const { session, url } = server
      const said = ({ body, status }: Answer) => [status, body.error.param, body.error.message]
      assert.deepStrictEqual(said(yield* send(server, { to: "+15551234567", type: "fax" })), [
        400,
        "type",
        "type must be template or text"
      ])
      const put = { url: "https://example.com", envelope: "c" }
      const envelope = yield* call(`${url}/internal/webhook`, { method: "PUT", headers: session, body: put })
      assert.deepStrictEqual(said(envelope), [400, "envelope", "envelope must be combined, a or b"])
      const status = yield* call(`${url}/internal/webhook/deliveries?status=lost`, { headers: session })
      assert.match(status.body.error.message, /^status must be pending, held, delivered, exhausted or skipped$/)
    }).pipe(Effect.scoped))
})

describe("the set-up page", () => {
  it.live("leads from its link to a first API key, and says afterwards that it is done with", () =>
    Effect.gen(function*() {
      const { services, url } = yield* start(noOwner)
      assert.include((yield* call(url)).text, "not set up yet")
      const token = Redacted.value((yield* Effect.orDie(Context.get(services, Setup.Setup).token))!)
      const page = yield* call(`${url}/setup`)
      const script = /<script>([^]*?)<\/script>/.exec(page.text)![1]!
      const fields = { workspaceName: "First", email: "o'first@example.com", password: "a long password" }

      const wrong = yield* fillIn(script, `${url}/setup#wrong`, fields)
      assert.include(wrong("[role=status]").textContent, "the set-up link is not valid")
      assert.deepStrictEqual([wrong("form").hidden, wrong("section").hidden], [false, true])

      const done = yield* fillIn(script, `${url}/setup#${token}`, fields)
      assert.include(done("[role=status]").textContent, "Done. You are signed in as o'first@example.com")
      assert.deepStrictEqual([done("form").hidden, done("section").hidden], [true, false])
      const output = yield* shell(done("pre").textContent, fields.password)
      assert.match(output, /"apiKey":"wac_live_\w+"/)

      const again = yield* fillIn(script, `${url}/setup#${token}`, fields)
      assert.include(again("[role=status]").textContent, "set up already")
      const over = yield* call(`${url}/setup`)
      assert.include(over.text, "Already set up")
      assert.include(over.text, "npm run members -- reset-password")
      assert.notInclude(over.text, "<form")
      assert.notInclude((yield* call(url)).text, "not set up yet")
    }).pipe(Effect.scoped))
})
