/**
 * Hosts that are built into one program: no bundler has an option that names a package, but for PGlite, which the
 * embedding guide has a host leave out. Also what npm installs for them.
 */
import commonjs from "@rollup/plugin-commonjs"
import { nodeResolve } from "@rollup/plugin-node-resolve"
import * as Extent from "@wac/testbed/Extent"
import * as PostgresServer from "@wac/testbed/PostgresServer"
import { build as esbuild } from "esbuild"
import { execFile } from "node:child_process"
import { randomBytes } from "node:crypto"
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { rollup } from "rollup"
import { build as vite } from "vite"
import { afterAll, assert, beforeAll, inject, it } from "vitest"
import webpack from "webpack"
import { root } from "../Published.ts"
import * as NextApp from "./NextApp.ts"
import { install, installedWith, link } from "./Packages.ts"
import * as Surroundings from "./Surroundings.ts"

const run = promisify(execFile)

/** Sends a message with each storage that the environment names, and is asked for its health. */
const host = `
import { createWac, memory, pglite, postgres, s3, sandbox, whatsapp } from "wac"

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8/x8AAwMCAO+ip1sAAAAASUVORK5CYII=",
  "base64"
)
const hello = { to: "+15551234567", type: "template", template: { name: "hello_world", language: "en_US" } }

const send = async (name, options) => {
  const wac = await createWac({ provider: sandbox(), ...options })
  const { status } = await wac.messages.send(hello, { idempotencyKey: "1" })
  const health = await wac.handler(new Request("http://localhost/healthz"))
  const { mimeType } = await wac.media.upload({ bytes: png, filename: "a.png" })
  console.log(name, status, health.status, mimeType)
  await wac.close()
}

const failure = (options) => createWac({ provider: sandbox(), ...options }).then(() => "none", ({ message }) => message)

// nothing listens there
const unreachable = whatsapp({
  baseUrl: "http://127.0.0.1:9",
  accessToken: "a-token",
  phoneNumberId: "1066",
  businessAccountId: "4711",
  appSecret: "secret",
  verifyToken: "verify-token"
})

const main = async () => {
  const { DIRECTORY, MASTER_KEY: masterKey, POSTGRES, WITHOUT } = process.env
  await send("memory", { storage: memory() })
  if (POSTGRES !== undefined) await send("postgres", { storage: postgres(JSON.parse(POSTGRES)), masterKey })
  if (DIRECTORY !== undefined) await send("pglite", { storage: pglite(DIRECTORY) })
  if (WITHOUT !== undefined) {
    console.log(await failure({ storage: memory(), provider: unreachable, log: () => {} }))
    console.log(await failure({ storage: pglite(WITHOUT), log: () => {} }))
    console.log(await failure({ storage: memory(), mediaStore: s3({ url: "s3://files/wac", region: "eu-central-1" }), log: () => {} }))
  }
}
main().catch((error) => {
  console.error(error)
  process.exitCode = 1
})
`

let project: string
let server: PostgresServer.PostgresServer

beforeAll(async () => {
  server = await PostgresServer.start("fsync=off")
  project = realpathSync(mkdtempSync(join(tmpdir(), "wac-bundlers-")))
  install(inject("packed"), project, ["wac"], true)
  writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }))
  writeFileSync(join(project, "host.js"), host)
})
afterAll(async () => {
  rmSync(project, { recursive: true })
  await server.remove()
})

/** Builds the host into a folder and gives the program's file. */
type Bundler = (entry: string, to: string) => Promise<string>

const ofEsbuild = (format: "esm" | "cjs"): Bundler => async (entry, to) => {
  const outfile = join(to, `host.${format === "esm" ? "mjs" : "cjs"}`)
  await esbuild({
    entryPoints: [entry],
    bundle: true,
    platform: "node",
    format,
    outfile,
    logLevel: "error"
  })
  return outfile
}

/** Its declarations are those of CommonJS, where the function is a field. */
const fromCommonjs = commonjs as unknown as typeof commonjs.default

const ofRollup = (format: "es" | "cjs"): Bundler => async (entry, to) => {
  const built = await rollup({
    input: entry,
    plugins: [nodeResolve({ exportConditions: ["node"], preferBuiltins: true }), fromCommonjs()],
    logLevel: "silent"
  })
  const extension = format === "es" ? "mjs" : "cjs"
  await built.write({
    dir: to,
    format,
    entryFileNames: `[name].${extension}`,
    chunkFileNames: `[name]-[hash].${extension}`
  })
  await built.close()
  return join(to, `host.${extension}`)
}

const ofWebpack: Bundler = async (entry, to) => {
  const compiler = webpack({
    entry,
    target: "node",
    mode: "production",
    optimization: { minimize: false },
    output: { path: to, filename: "host.cjs", chunkFilename: "[name].cjs" }
  })
  const stats = await promisify(compiler.run.bind(compiler))()
  await promisify(compiler.close.bind(compiler))()
  if (stats!.hasErrors()) throw new Error(stats!.toString({ all: false, errors: true }))
  return join(to, "host.cjs")
}

const ofVite = (noExternal?: true): Bundler => async (entry, to) => {
  await vite({
    configFile: false,
    root: project,
    logLevel: "error",
    build: { ssr: entry, outDir: to, rollupOptions: { output: { entryFileNames: "host.mjs" } } },
    ssr: noExternal === undefined ? {} : { noExternal }
  })
  return join(to, "host.mjs")
}

/** Each takes seconds. */
const bundlers: ReadonlyArray<readonly [name: string, bundler: Bundler]> = [
  ["esbuild as a module", ofEsbuild("esm")],
  ["esbuild as CommonJS", ofEsbuild("cjs")],
  ["webpack", ofWebpack],
  ["Rollup", ofRollup("es")],
  ["Vite, with every package", ofVite(true)],
  ...Extent.of([], [["Rollup as CommonJS", ofRollup("cjs")], ["Vite", ofVite()]] as const)
]

/** Runs a program, and gives its lines. */
const linesOf = async (program: string, env: Readonly<Record<string, string>>): Promise<ReadonlyArray<string>> => {
  const { stdout } = await run(process.execPath, [program], {
    env: { PATH: process.env["PATH"], ...env },
    timeout: 500_000
  })
  return stdout.trimEnd().split("\n")
}

it.each(bundlers)("a host built by %s sends, and is told which optional package it lacks", async (name, bundler) => {
  const to = join(project, name.replaceAll(/\W+/g, "-"))
  mkdirSync(to)
  const program = await bundler(join(project, "host.js"), to)
  const lines = await linesOf(program, {
    POSTGRES: JSON.stringify({ url: server.url, schema: name.toLowerCase().replaceAll(/\W+/g, "_") }),
    MASTER_KEY: randomBytes(32).toString("base64"),
    WITHOUT: join(to, "without")
  })
  assert.deepStrictEqual(lines, [
    "memory sent 200 image/png",
    "postgres sent 200 image/png",
    "the provider did not identify the number 1066: it could not be reached (ECONNREFUSED)",
    "embedded PostgreSQL needs a package that is not installed: npm install @electric-sql/pglite",
    "mediaStore: files in S3 need a package that is not installed: npm install @aws-sdk/client-s3"
  ])
})

/** The guide's command for a host with PGlite. */
const command = /^```sh in="the folder of a host"\nnpx esbuild (.+)\n```$/m.exec(
  readFileSync(join(root, "docs/guides/embedding.md"), "utf8")
)?.[1]

it("a host that is built by the guide's command sends with PGlite, which is installed beside it", async () => {
  link(join(root, "node_modules/@electric-sql/pglite"), join(project, "node_modules/@electric-sql/pglite"))
  assert.isDefined(command)
  const args = command!.split(" ")
  await run(join(root, "node_modules/.bin/esbuild"), args, { cwd: project })
  const outfile = args.find((arg) => arg.startsWith("--outfile="))!.slice("--outfile=".length)
  const lines = await linesOf(join(project, outfile), { DIRECTORY: join(project, "data") })
  assert.deepStrictEqual(lines, ["memory sent 200 image/png", "pglite sent 200 image/png"])
})

const nextPages: Readonly<Record<string, string>> = {
  "app/layout.jsx": "export default ({ children }) => <html lang=\"en\"><body>{children}</body></html>",
  "app/messaging/[...path]/route.js": `
import { createWac, memory, sandbox } from "wac"
let starting
const started = () => starting ??= createWac({ storage: memory(), provider: sandbox(), prefix: "/messaging" })
export const GET = async (request) => (await started()).handler(request)`,
  "app/send/route.js": `
import { createWac, memory, sandbox } from "wac"
export const GET = async () => {
  const wac = await createWac({ storage: memory(), provider: sandbox() })
  const message = { to: "+15551234567", type: "template", template: { name: "hello_world", language: "en_US" } }
  const { status } = await wac.messages.send(message, { idempotencyKey: "1" })
  await wac.close()
  return new Response(status)
}
export const dynamic = "force-dynamic"`
}

/** Takes minutes. */
const nexts = Extent.of<ReadonlyArray<string>>([], ["16"])

it.each(nexts)("a host built by Next %s serves the handler and sends", async (version) => {
  const { ask } = await NextApp.start({ version, files: nextPages, packed: { project, names: ["wac"] } })
  const health = await Surroundings.until("the server", () => ask("/messaging/healthz").catch(() => undefined))
  assert.deepStrictEqual([health.status, await health.json()], [200, { status: "ok" }])
  assert.strictEqual(await (await ask("/send")).text(), "sent")
})

it("npm installs wac alone, which is no larger than what the decision on the bundled façade lists", () => {
  const installed = installedWith(project, "wac")
  assert.deepStrictEqual(installed.map(({ name }) => name), ["wac"])
  const megabytes = installed.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6
  assert.isAtMost(megabytes, 15)
})
