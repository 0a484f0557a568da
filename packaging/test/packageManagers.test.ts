/**
 * The packed packages, installed by package managers that let a package find what it declares and nothing else: pnpm
 * without hoisting, and Yarn with Plug'n'Play. Both are downloaded for the test.
 */
import * as Extent from "@wac/testbed/Extent"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, inject, it, onTestFinished } from "vitest"
import { tarballOf } from "../Packed.ts"
import { folders, manifestOf, root, server } from "../Published.ts"

const run = promisify(execFile)
const names = [...folders.keys(), server.name]
const packed = inject("packed")

/** Imports what can be imported, sends a message, and asks the server's program for its version. */
const host = `
import { createWac, memory, sandbox } from "wac"
${[...folders.keys()].map((name) => `await import(${JSON.stringify(name)})`).join("\n")}

const wac = await createWac({ storage: memory(), provider: sandbox(), dashboard: true })
const hello = { to: "+15551234567", type: "template", template: { name: "hello_world", language: "en_US" } }
const { status } = await wac.messages.send(hello, { idempotencyKey: "1" })
const page = await wac.handler(new Request("http://localhost/dashboard"))
console.log(status, page.status)
await wac.close()
`

const files = Object.fromEntries(names.map((name) => [name, `file:${tarballOf(packed, name)}`]))

/** What packages expect their host to have, such as `effect`. */
const peers = Object.assign(
  // what vitest, a peer of ours, expects of it
  { vite: manifestOf(join(root, "node_modules/vite")).version },
  ...[...folders.values()].map(manifestOf).map(({ peerDependencies = {}, peerDependenciesMeta = {} }) =>
    Object.fromEntries(
      Object.entries(peerDependencies).filter(([peer]) => peerDependenciesMeta[peer]?.optional !== true)
    )
  )
)

/** A project that depends on every package, with what the manager is told besides. */
const projectWith = (manifest: object, settings: Readonly<Record<string, string>>): string => {
  const folder = mkdtempSync(join(tmpdir(), "wac-managed-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(
    join(folder, "package.json"),
    JSON.stringify({ name: "a-host", private: true, type: "module", dependencies: { ...peers, ...files }, ...manifest })
  )
  writeFileSync(join(folder, "host.js"), host)
  for (const [file, text] of Object.entries(settings)) writeFileSync(join(folder, file), text)
  return folder
}

/** The program of a package manager, which npm downloads. */
const manager = async (name: string, program: string): Promise<string> => {
  const folder = mkdtempSync(join(tmpdir(), "wac-manager-"))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  await run("npm", ["install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", name])
  return join(folder, "node_modules", program)
}

/** Runs a package manager in a project, and gives everything that it wrote. */
const runner = (program: string, cwd: string) => async (...args: ReadonlyArray<string>): Promise<string> => {
  const registry = (await run("npm", ["config", "get", "registry"])).stdout.trim()
  const home = join(cwd, "home")
  const { stderr, stdout } = await run(process.execPath, [program, ...args], {
    cwd,
    env: {
      ...process.env,
      HOME: home,
      CI: "1",
      NO_COLOR: "1",
      npm_config_registry: registry,
      YARN_NPM_REGISTRY_SERVER: registry,
      YARN_UNSAFE_HTTP_WHITELIST: "*",
      YARN_ENABLE_TELEMETRY: "0"
    },
    maxBuffer: 64 << 20
  }).catch(({ stderr, stdout }: { readonly stderr: string; readonly stdout: string }) =>
    Promise.reject(new Error(stdout + stderr))
  )
  return stdout + stderr
}

it.each(Extent.of<ReadonlyArray<string>>([], ["12.21.0"]))(
  "pnpm %s installs every package without hoisting and without a peer that is missing, and they run",
  async (version) => {
    const project = projectWith({}, {
      "pnpm-workspace.yaml": JSON.stringify({
        nodeLinker: "isolated",
        hoist: false,
        strictPeerDependencies: true,
        storeDir: "store",
        overrides: files
      })
    })
    const pnpm = runner(await manager(`pnpm@${version}`, "pnpm/bin/pnpm.mjs"), project)
    assert.notMatch(await pnpm("install", "--no-frozen-lockfile", "--ignore-scripts"), /WARN/)
    assert.include(await pnpm("exec", "node", "host.js"), "sent 200")
    assert.match(await pnpm("exec", "wac", "--version"), /\d+\.\d+\.\d+/)
  }
)

/** What Yarn says of every project of modules: lines without a code, what was added, and that its loader is new. */
const harmless = ["YN0000", "YN0013", "YN0085", "YN0092"]

it.each(Extent.of<ReadonlyArray<string>>([], ["4.18.1"]))(
  "Yarn %s installs every package as Plug'n'Play without a warning, and they run",
  async (version) => {
    const project = projectWith({ resolutions: files }, {
      ".yarnrc.yml": JSON.stringify({ nodeLinker: "pnp", enableScripts: false, enableImmutableInstalls: false }),
      "yarn.lock": ""
    })
    const yarn = runner(await manager(`@yarnpkg/cli-dist@${version}`, "@yarnpkg/cli-dist/bin/yarn.js"), project)
    const told = await yarn("install")
    assert.isEmpty([...told.matchAll(/YN\d{4}/g)].filter(([code]) => !harmless.includes(code)), told)
    assert.include(await yarn("node", "host.js"), "sent 200")
    assert.match(await yarn("wac", "--version"), /\d+\.\d+\.\d+/)
  }
)
