/**
 * The guide on Next: its files are an application that sends, serves the API and the dashboard, receives, and stops when
 * asked. Next itself builds and runs them in the full form; otherwise a program of ours calls their functions as Next
 * does.
 */
import * as Extent from "@wac/testbed/Extent"
import { build } from "esbuild"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { assert, inject, it, onTestFinished } from "vitest"
import { root } from "../Published.ts"
import * as GuideApplication from "./GuideApplication.ts"
import * as NextApp from "./NextApp.ts"
import { install } from "./Packages.ts"
import * as Surroundings from "./Surroundings.ts"

const guide = readFileSync(join(root, "docs/guides/next.md"), "utf8")
const files = Object.fromEntries(
  [...guide.matchAll(/^```ts file=(\S+)\n([^]*?)^```$/gm)].map(([, name, text]) => [name!, text!])
)

/** The same, and the dashboard, which the guide's bundle leaves out. */
const use = async (ask: GuideApplication.Ask): Promise<void> => {
  await GuideApplication.use(ask)
  const page = await ask("/messaging/dashboard")
  assert.deepStrictEqual([page.status, page.headers.get("content-type")?.split(";")[0]], [200, "text/html"])
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
    env: { NEXT_RUNTIME: "nodejs", WEBHOOK_SECRET: GuideApplication.secret, NO_COLOR: "1" },
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
    env: { NEXT_MANUAL_SIG_HANDLE: "true", WEBHOOK_SECRET: GuideApplication.secret }
  })
  await Surroundings.until("the server", () => ask("/messaging/healthz").catch(() => undefined))
  await use(ask)
  assert.deepStrictEqual(await stop(), [0, null])
})
