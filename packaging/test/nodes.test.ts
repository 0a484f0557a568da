/**
 * The published packages on each Node that they are for, and on one that they are not for.
 */
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, inject, it } from "vitest"
import { manifestOf } from "../Published.ts"
import { installNodes } from "./Nodes.ts"
import { install } from "./Packages.ts"

const run = promisify(execFile)

// the oldest that each of them claims, and the one of this repository
const verifierOldest = "20.0.0"
const wacOldest = "22.19.0"

let nodes: Awaited<ReturnType<typeof installNodes<typeof verifierOldest | typeof wacOldest>>>
let project: string

beforeAll(async () => {
  nodes = await installNodes([verifierOldest, wacOldest])
  project = mkdtempSync(join(tmpdir(), "wac-nodes-project-"))
  install(inject("packed"), project, ["wac", "@wac/effect", "@wac/client", "@wac/verifier"])
})
afterAll(() => {
  nodes.remove()
  rmSync(project, { recursive: true })
})

const runOn = (node: string, name: string, program: string) => {
  const file = join(project, `${name}.mjs`)
  writeFileSync(file, program)
  return run(node, [file], { cwd: project })
}

const executables = [verifierOldest, wacOldest, "this"] as const
const executableOf = (version: (typeof executables)[number]) =>
  version === "this" ? process.execPath : nodes.nodes[version]

describe.each(executables)("on Node %s", (version) => {
  it("the client sends a signed message, which the verifier verifies, and signs in to the dashboard's endpoints", async () => {
    const { stdout } = await runOn(
      executableOf(version),
      "client",
      `
      import { createClient, WacError } from "@wac/client"
      import { createInternalClient } from "@wac/client/internal"
      import { requestPayload, SIGNATURE_HEADER, verify } from "@wac/verifier"
      import { createServer } from "node:http"

      const server = createServer(async (request, response) => {
        let body = ""
        for await (const chunk of request) body += chunk
        const { method, url: target, headers } = request
        if (target === "/internal/session") {
          response.setHeader("set-cookie", "wac_session=token; Path=/; HttpOnly")
          return response.end(JSON.stringify({ cookie: headers.cookie ?? null, site: headers["sec-fetch-site"] }))
        }
        const payload = requestPayload({ method, target, idempotencyKey: headers["idempotency-key"], body })
        const { ok } = await verify(payload, headers[SIGNATURE_HEADER.toLowerCase()], "whsec_x")
        const error = { code: "forbidden", reason: "opted_out", message: "x", request_id: "req_1" }
        response.writeHead(JSON.parse(body).text === "refuse" ? 403 : 200)
        response.end(JSON.stringify(JSON.parse(body).text === "refuse" ? { error } : { status: "sent", verified: ok }))
      })
      await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve))
      const url = "http://127.0.0.1:" + server.address().port
      const wac = createClient({ baseUrl: url + "/v1", apiKey: "wac_live_x", signingSecret: "whsec_x" })
      console.log((await wac.messages.send({}, { signal: AbortSignal.timeout(60_000) })).verified)
      console.log(await wac.messages.send({ text: "refuse" }).catch((error) => error instanceof WacError && error.reason))
      const dashboard = createInternalClient({ baseUrl: url })
      await dashboard.session.signIn({})
      console.log(await dashboard.session.get())
      server.close()
      server.closeAllConnections()`
    )
    assert.deepStrictEqual(stdout.trim().split("\n"), [
      "true",
      "opted_out",
      "{ cookie: 'wac_session=token', site: 'same-origin' }"
    ])
  })
})

describe.each([wacOldest, "this"] as const)("on Node %s", (version) => {
  it("wac sends a message, has an owner who signs in with a password, and knows a customer's time zone", async () => {
    const { stdout } = await runOn(
      executableOf(version),
      "wac",
      `
      import { createWac, local, memory, sandbox } from "wac"
      import "@wac/effect"
      import { QuietHours } from "@wac/core"
      const owner = { email: "owner@example.com", password: "a horse in the garden" }
      const wac = await createWac({ storage: memory(), provider: sandbox(), auth: local({ owner }) })
      const message = { to: "+15551234567", type: "template", template: { name: "hello_world", language: "en_US" } }
      console.log((await wac.messages.send(message, { idempotencyKey: "1" })).status)
      const headers = { "content-type": "application/json", "sec-fetch-site": "same-origin" }
      const signIn = { method: "POST", headers, body: JSON.stringify(owner) }
      console.log((await wac.handler(new Request("http://localhost/internal/session", signIn))).status)
      console.log(QuietHours.zonesOf("+393331234567", null).join())
      await wac.close()`
    )
    assert.strictEqual(stdout, "sent\n200\nEurope/Rome\n")
  })
})

describe(`on Node ${verifierOldest}`, () => {
  it.each(["wac", "@wac/effect"])(
    "%s says in one sentence that it needs a newer one, before anything else loads",
    async (name) => {
      const oldest = manifestOf(join(project, "node_modules/wac")).engines!.node!.replace(">=", "")
      const sentence = `wac needs Node ${oldest} or later; this is Node ${verifierOldest}`
      const caught = await runOn(
        executableOf(verifierOldest),
        "caught",
        `await import("${name}").catch((error) => console.log(error.message, "|", error.stack))`
      )
      assert.strictEqual(caught.stdout, `${sentence} | Error: ${sentence}\n`)
      const died: { readonly code: number; readonly stderr: string } = await runOn(
        executableOf(verifierOldest),
        "died",
        `import ${JSON.stringify(name)}`
      ).then(() => assert.fail("it was imported"), (error) => error)
      assert.strictEqual(died.code, 1)
      assert.deepStrictEqual(
        died.stderr.split("\n").filter((line) => line.includes("Node 22") || line.includes("  at ")),
        [
          `[Error: ${sentence}]`
        ]
      )
      assert.notInclude(died.stderr, "undici")
    }
  )
})
