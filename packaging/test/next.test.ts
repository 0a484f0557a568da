/**
 * The guide on Next: its files are an application that sends, serves the API and the dashboard, receives, and stops when
 * asked. Next itself builds and runs them in the full form; otherwise a program of ours calls their functions as Next
 * does.
 */
import * as Extent from "@wac/testbed/Extent"
import { exampleEvent, signDelivery } from "@wac/verifier/testing"
import { build } from "esbuild"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { assert, inject, it, onTestFinished } from "vitest"
import { root } from "../Published.ts"
import * as NextApp from "./NextApp.ts"
import { install } from "./Packages.ts"
import * as Surroundings from "./Surroundings.ts"

const guide = readFileSync(join(root, "docs/guides/next.md"), "utf8")
const files = Object.fromEntries(
  [...guide.matchAll(/^```ts file=(\S+)\n([^]*?)^```$/gm)].map(([, name, text]) => [name!, text!])
)
const secret = "whsec_dGhlIHNlY3JldCBvZiB0aGUgdGVzdHM="

/** Asks the application for everything that the guide promises. */
const use = async (ask: NextApp.Started["ask"]): Promise<void> => {
  const ship = async () => {
    const response = await ask("/orders/1042/shipped", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ phone: "+15551234567" })
    })
    return response.json() as Promise<{ readonly messageId: string; readonly status: string }>
  }
  const [first, second] = [await ship(), await ship()]
  assert.strictEqual(first.status, "sent")
  // the routes have one instance, whichever file loaded it
  assert.strictEqual(second.messageId, first.messageId)

  const refused = await ask("/messaging/v1/messages", {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer wac_live_wrong" },
    body: "{}"
  })
  assert.strictEqual(refused.status, 401)
  assert.strictEqual((await ask("/messaging/openapi.json")).status, 200)
  const page = await ask("/messaging/dashboard")
  assert.deepStrictEqual([page.status, page.headers.get("content-type")?.split(";")[0]], [200, "text/html"])

  const delivery = await signDelivery({ payload: exampleEvent("message.delivered"), secret })
  assert.strictEqual((await ask("/webhook", delivery)).status, 200)
  assert.strictEqual((await ask("/webhook", { ...delivery, body: "{}" })).status, 400)
}

/** Serves the functions of the routes, without a server of Next. */
const server = `
import { createServer } from "node:http"
import { register } from "./instrumentation.js"
import * as messaging from "./messaging.js"
import * as shipped from "./shipped.js"
import * as webhook from "./webhook.js"

await register()
const routeOf = (path) => {
  const [, id] = /^\\/orders\\/([^/]+)\\/shipped$/.exec(path) ?? []
  return id === undefined ? [path === "/webhook" ? webhook : messaging, {}] : [shipped, { id }]
}
const server = createServer(async (incoming, outgoing) => {
  const chunks = await Array.fromAsync(incoming)
  const request = new Request(new URL(incoming.url, "http://127.0.0.1"), {
    method: incoming.method,
    headers: Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
    body: chunks.length === 0 ? undefined : Buffer.concat(chunks)
  })
  const [route, params] = routeOf(new URL(request.url).pathname)
  const response = await route[request.method](request, { params: Promise.resolve(params) })
  outgoing.writeHead(response.status, [...response.headers].flat()).end(Buffer.from(await response.arrayBuffer()))
})
server.listen(0, "127.0.0.1", () => console.log("http://127.0.0.1:" + server.address().port))
`

it("the guide's files compile, and their functions send once per order, serve, receive and stop when asked", async () => {
  const cache = join(root, "node_modules/.cache")
  mkdirSync(cache, { recursive: true })
  // in the repository, where its packages are found
  const project = mkdtempSync(join(cache, "next-"))
  onTestFinished(() => rmSync(project, { recursive: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, name)), { recursive: true })
    writeFileSync(join(project, name), text)
  }
  writeFileSync(
    join(project, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        module: "esnext",
        moduleResolution: "bundler",
        target: "es2023",
        lib: ["es2023", "dom", "dom.iterable"],
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        types: ["node"]
      }
    })
  )
  const tsc = join(root, "node_modules/typescript/bin/tsc")
  assert.strictEqual(spawnSync(process.execPath, [tsc, "-p", project], { encoding: "utf8" }).stdout, "")
  const [out, routes] = [join(project, "out"), Object.keys(files).filter((name) => name.endsWith("/route.ts"))]
  const entries = ["instrumentation.ts", ...routes].map((name) => ({
    in: join(project, name),
    out: name === "instrumentation.ts" ? "instrumentation" : /([a-z]+)(\/\[\[.*)?\/route/.exec(name)![1]!
  }))
  // each contains the instance's file, as Next may build them
  await build({
    entryPoints: entries,
    outdir: out,
    bundle: true,
    packages: "external",
    platform: "node",
    format: "esm"
  })
  writeFileSync(join(out, "package.json"), JSON.stringify({ type: "module" }))
  writeFileSync(join(out, "server.js"), server)
  const child = spawn(process.execPath, ["server.js"], {
    cwd: out,
    env: { NEXT_RUNTIME: "nodejs", WEBHOOK_SECRET: secret, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "inherit"]
  })
  onTestFinished(() => void child.kill("SIGKILL"))
  const exited = once(child, "exit")
  const lines = createInterface({ input: child.stdout })
  const url: string = await new Promise((resolve, reject) => {
    lines.on("line", (line) => {
      if (line.startsWith("http:")) resolve(line)
    })
    void exited.then(([code]) => reject(new Error(`it ended with ${code}`)))
  })
  await use((path, init) => fetch(url + path, init))
  child.kill("SIGTERM")
  assert.deepStrictEqual(await exited, [0, null])
})

/** Takes minutes. */
const nexts = Extent.of<ReadonlyArray<string>>([], ["16"])

it.each(nexts)("built and started by Next %s, the guide's application does the same", async (version) => {
  const project = mkdtempSync(join(tmpdir(), "wac-next-packed-"))
  onTestFinished(() => rmSync(project, { recursive: true }))
  const names = ["wac", "@wac/verifier"]
  install(inject("packed"), project, names, true)
  const { ask, stop } = await NextApp.start({
    version,
    files: {
      ...files,
      "app/layout.tsx":
        "export default ({ children }: { children: React.ReactNode }) => <html lang=\"en\"><body>{children}</body></html>"
    },
    packed: { project, names },
    env: { NEXT_MANUAL_SIG_HANDLE: "true", WEBHOOK_SECRET: secret }
  })
  await Surroundings.until("the server", () => ask("/messaging/healthz").catch(() => undefined))
  await use(ask)
  assert.deepStrictEqual(await stop(), [0, null])
})
