/**
 * Hosts that are built into one program, by each bundler with what it takes of its own accord: no option names a
 * package of ours or of theirs, but for PGlite, which the embedding guide has a host leave out.
 */
import commonjs from "@rollup/plugin-commonjs"
import nodeResolve from "@rollup/plugin-node-resolve"
import * as Extent from "@wac/testbed/Extent"
import * as PostgresServer from "@wac/testbed/PostgresServer"
import { build as esbuild } from "esbuild"
import { execFile } from "node:child_process"
import { randomBytes } from "node:crypto"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { rollup } from "rollup"
import { build as vite } from "vite"
import { afterAll, assert, beforeAll, inject, it } from "vitest"
import webpack from "webpack"
import { root } from "../Published.ts"
import { install, link } from "./Packages.ts"

const run = promisify(execFile)

/** Sends a message with each storage that the environment names, and is asked for its health. */
const host = `
import { createWac, memory, pglite, postgres, s3, sandbox } from "wac"

const hello = { to: "+15551234567", type: "template", template: { name: "hello_world", language: "en_US" } }

const send = async (name, options) => {
  const wac = await createWac({ provider: sandbox(), ...options })
  const { status } = await wac.messages.send(hello, { idempotencyKey: "1" })
  const health = await wac.handler(new Request("http://localhost/healthz"))
  console.log(name, status, health.status)
  await wac.close()
}

const failure = (options) => createWac({ provider: sandbox(), ...options }).then(() => "none", ({ message }) => message)

const main = async () => {
  const { DIRECTORY, MASTER_KEY: masterKey, POSTGRES, WITHOUT } = process.env
  await send("memory", { storage: memory() })
  if (POSTGRES !== undefined) await send("postgres", { storage: postgres(JSON.parse(POSTGRES)), masterKey })
  if (DIRECTORY !== undefined) await send("pglite", { storage: pglite(DIRECTORY) })
  if (WITHOUT !== undefined) {
    console.log(await failure({ storage: pglite(WITHOUT) }))
    console.log(await failure({ storage: memory(), mediaStore: s3({ url: "s3://files/wac", region: "eu-central-1" }) }))
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

interface Build {
  readonly entry: string
  /** The folder of the program. */
  readonly to: string
  /** What is left out. */
  readonly external: ReadonlyArray<string>
}

/** Builds the host and gives the program's file. */
type Bundler = (build: Build) => Promise<string>

const ofEsbuild = (format: "esm" | "cjs"): Bundler => async ({ entry, external, to }) => {
  const outfile = join(to, `host.${format === "esm" ? "mjs" : "cjs"}`)
  await esbuild({
    entryPoints: [entry],
    bundle: true,
    platform: "node",
    format,
    outfile,
    external: [...external],
    logLevel: "error"
  })
  return outfile
}

const ofRollup = (format: "es" | "cjs"): Bundler => async ({ entry, external, to }) => {
  const built = await rollup({
    input: entry,
    external: [...external],
    plugins: [nodeResolve({ exportConditions: ["node"], preferBuiltins: true }), commonjs()],
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

const ofWebpack: Bundler = async ({ entry, external, to }) => {
  const compiler = webpack({
    entry,
    target: "node",
    mode: "production",
    optimization: { minimize: false },
    externals: Object.fromEntries(external.map((name) => [name, `commonjs ${name}`])),
    output: { path: to, filename: "host.cjs", chunkFilename: "[name].cjs" }
  })
  const stats = await promisify(compiler.run.bind(compiler))()
  await promisify(compiler.close.bind(compiler))()
  if (stats!.hasErrors()) throw new Error(stats!.toString({ all: false, errors: true }))
  return join(to, "host.cjs")
}

const ofVite = (noExternal?: true): Bundler => async ({ entry, external, to }) => {
  await vite({
    configFile: false,
    root: project,
    logLevel: "error",
    build: { ssr: entry, outDir: to, rollupOptions: { output: { entryFileNames: "host.mjs" } } },
    ssr: noExternal === undefined ? {} : { noExternal, external: [...external] }
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
    timeout: 120_000
  })
  return stdout.trimEnd().split("\n")
}

const built = new Map<string, string>()

it.each(bundlers)("a host built by %s sends, and is told which optional package it lacks", async (name, bundler) => {
  const to = join(project, name.replaceAll(/\W+/g, "-"))
  mkdirSync(to)
  const program = await bundler({
    entry: join(project, "host.js"),
    to,
    external: ["@electric-sql/pglite", "@electric-sql/pglite/nodefs"]
  })
  built.set(name, program)
  const lines = await linesOf(program, {
    POSTGRES: JSON.stringify({ url: server.url, schema: name.toLowerCase().replaceAll(/\W+/g, "_") }),
    MASTER_KEY: randomBytes(32).toString("base64"),
    WITHOUT: join(to, "without")
  })
  assert.deepStrictEqual(lines, [
    "memory sent 200",
    "postgres sent 200",
    "embedded PostgreSQL needs a package that is not installed: npm install @electric-sql/pglite",
    "mediaStore: files in S3 need a package that is not installed: npm install @aws-sdk/client-s3"
  ])
})

it("a host sends with PGlite if it is installed beside the program", async () => {
  link(join(root, "node_modules/@electric-sql/pglite"), join(project, "node_modules/@electric-sql/pglite"))
  for (const name of ["esbuild as a module", "esbuild as CommonJS", "webpack"]) {
    const lines = await linesOf(built.get(name)!, { DIRECTORY: join(project, "data", name) })
    assert.deepStrictEqual(lines, ["memory sent 200", "pglite sent 200"], name)
  }
})
