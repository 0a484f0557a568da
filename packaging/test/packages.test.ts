/**
 * Each published package as whoever installs it gets it.
 */
import * as Extent from "@wac/testbed/Extent"
import { execFile } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { promisify } from "node:util"
import { publint } from "publint"
import { formatMessage } from "publint/utils"
import { afterAll, assert, beforeAll, describe, inject, it } from "vitest"
import { tarballOf } from "../Packed.ts"
import { folders, isBundled, isRequirable, type Manifest, manifestOf, root } from "../Published.ts"
import { install, installByNpm, link } from "./Packages.ts"

const run = promisify(execFile)
const names = [...folders.keys()]
const requirable = names.filter((name) => isRequirable(manifestOf(folders.get(name)!)))
const packed = inject("packed")
let project: string
const placeOf = (name: string) => join(project, "node_modules", name)

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), "wac-installed-"))
  await installByNpm(packed, project)
}, 300_000)
afterAll(() => rmSync(project, { recursive: true }))

/** What can be imported of a package. Patterns stand for every module that the package has. */
const entriesOf = ({ exports, name }: Manifest): ReadonlyArray<string> =>
  Object.keys(exports).flatMap((path) =>
    path.endsWith("/*")
      ? readdirSync(join(placeOf(name), "dist"), { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".js") && file !== "index.js")
        .map((file) => `${name}/${file.slice(0, -3)}`)
      : [path === "." ? name : `${name}${path.slice(1)}`]
  )

/** The result of importing each entry of a package. */
interface Imports {
  readonly imported: number
  readonly failed: ReadonlyArray<string>
}

let importing: Promise<Readonly<Record<string, Imports>>> | undefined

/** Imports every package, in one process: what they share is loaded once. */
const imports = () =>
  importing ??= (async () => {
    const file = join(project, "import.mjs")
    const entries = Object.fromEntries(names.map((name) => [name, entriesOf(manifestOf(placeOf(name)))]))
    writeFileSync(
      file,
      `const all = {}
for (const [name, entries] of Object.entries(${JSON.stringify(entries)})) {
  all[name] = { imported: 0, failed: [] }
  for (const entry of entries) {
    await import(entry).then(
      () => all[name].imported++,
      (error) => all[name].failed.push(entry + ": " + error)
    )
  }
}
console.log(JSON.stringify(all))
`
    )
    return JSON.parse((await run(process.execPath, [file], { cwd: project })).stdout)
  })()

describe.each(names)("%s", (name) => {
  it("a package has its built files, its sources and its licence, and nothing else", () => {
    const files = readdirSync(placeOf(name), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(placeOf(name), join(entry.parentPath, entry.name)))
    const others = files.filter((file) => !/^(src|dist)\/.+\.(ts|js|cts|cjs|map)$/.test(file)).sort()
    const pages = others.filter((file) => file.startsWith("dist/dashboard/"))
    assert.deepEqual(others.filter((file) => !pages.includes(file)), [
      "LICENSE",
      "README.md",
      ...(isBundled(manifestOf(folders.get(name)!)) ? ["THIRD-PARTY-NOTICES.txt"] : []),
      "package.json",
      ...(isBundled(manifestOf(folders.get(name)!)) ? ["sbom.cdx.json"] : [])
    ])
    assert.deepEqual(
      pages.map((file) => file.replace(/-[\w-]{8}\./, ".")),
      ["@wac/http", "wac"].includes(name)
        ? ["assets/index.css", "icon.svg", "index.html"].map((file) => `dist/dashboard/${file}`)
        : []
    )
  })

  it("a package has a description, and depends only on published packages", () => {
    const { dependencies = {}, peerDependencies = {}, ...manifest } = manifestOf(placeOf(name))
    assert.deepEqual([manifest["license"], manifest["sideEffects"], manifest["type"]], ["Apache-2.0", false, "module"])
    assert.isNotEmpty(manifest["description"])
    for (const [dependency, range] of Object.entries({ ...dependencies, ...peerDependencies })) {
      if (dependency.startsWith("@wac/") || dependency === "wac") assert.include(names, dependency)
      assert.match(range, /^[~^]?[0-9]+\.[0-9]+\.[0-9]+/, dependency)
    }
  })

  it("publint finds no fault in a package", async () => {
    // what npm has installed is what it packed
    const { messages, pkg } = await publint({ pkgDir: placeOf(name), strict: true, pack: false })
    assert.deepEqual(messages.map((message) => formatMessage(message, pkg, { color: false })), [])
  })

  it("Node imports a package from its built files", async () => {
    const { failed, imported } = (await imports())[name]!
    assert.deepStrictEqual(failed, [])
    assert.isAtLeast(imported, 1)
  })
})

it("the declarations of wac are one file, with docstrings, that names nothing but Node", () => {
  const declarations = readFileSync(join(placeOf("wac"), "dist/index.d.ts"), "utf8")
  const modules = [...declarations.matchAll(/(?:^import .* from |\bimport\()["']([^"']+)["']/gm)].map(([, name]) =>
    name!
  )
  assert.deepEqual(modules.filter((module) => !module.startsWith("node:")), [])
  for (const name of ["WacOptions", "Messages", "createWac", "postgres"]) {
    assert.match(
      declarations,
      new RegExp(`\\*/\n(?:export )?(?:declare )?(?:interface|const|function) ${name}\\b`),
      name
    )
  }
})

// packages of modules alone are resolved by the programs below, too
it.each(Extent.of(requirable, names))("the types of %s match its modules", async (name) => {
  const attw = join(root, "node_modules/@arethetypeswrong/cli/dist/index.js")
  // fails if anything is wrong for who can use it, and says what
  const profile = requirable.includes(name) ? "strict" : "esm-only"
  const args = [attw, tarballOf(packed, name), "--profile", profile, "--no-color", "--format", "ascii"]
  const { stdout } = await run(process.execPath, args)
  for (const resolution of ["bundler", "node16 (from ESM)"]) assert.include(stdout, resolution)
  if (profile === "strict") { for (const old of ["node10", "node16 (from CJS)"]) assert.include(stdout, old) }
})

it("the client and the verifier are what can be required everywhere", () => {
  assert.sameMembers(requirable, ["@wac/client", "@wac/verifier"])
})

it.each(requirable)(
  "%s is required by a Node that requires no modules, and exports what its modules do",
  async (name) => {
    const file = join(project, `require-${name.replace(/\W/g, "-")}.cjs`)
    writeFileSync(
      file,
      `const compare = async () => {
  for (const entry of ${JSON.stringify(entriesOf(manifestOf(placeOf(name))))}) {
    const required = Object.keys(require(entry)).sort()
    const imported = Object.keys(await import(entry)).sort()
    console.log(required.length > 0 && String(required) === String(imported) ? "same" : entry + ": " + required)
  }
}
compare()
`
    )
    const { stdout } = await run(process.execPath, ["--no-experimental-require-module", file], { cwd: project })
    assert.match(stdout, /^(same\n)+$/)
  }
)

/** Type checks a file in a project of its own, in which only these packages can be found. */
const check = async (
  installed: ReadonlyArray<string>,
  source: string,
  options: Readonly<Record<string, unknown>> = {},
  type: "module" | "commonjs" = "module"
) => {
  const folder = mkdtempSync(join(tmpdir(), "wac-types-"))
  try {
    install(packed, folder, installed, true)
    for (const name of ["@types/node", "undici-types"]) {
      link(join(root, "node_modules", name), join(folder, "node_modules", name))
    }
    mkdirSync(join(folder, "src"))
    writeFileSync(join(folder, "src/index.ts"), source)
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type }))
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({
        compilerOptions: {
          module: "NodeNext",
          target: "ES2022",
          lib: ["ES2022", "DOM"],
          strict: true,
          exactOptionalPropertyTypes: true,
          noEmit: true,
          types: [],
          ...options
        }
      })
    )
    const { stdout } = await run(process.execPath, [join(root, "node_modules/typescript/bin/tsc")], { cwd: folder })
      .catch((error: { readonly stdout: string }) => error)
    return stdout
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe("a program of somebody else's", () => {
  it("a program passes the type checker with the verifier alone, declarations included", async () => {
    assert.strictEqual(
      await check(
        ["@wac/verifier"],
        `import { verify, type Verification } from "@wac/verifier"
export const result: Promise<Verification> = verify("{}", "t=1,v1=00", "whsec_x")
// @ts-expect-error a body that was parsed already cannot be verified
void verify({}, "t=1,v1=00", "whsec_x")
`,
        { skipDefaultLibCheck: true }
      ),
      ""
    )
  })

  it("a program passes the type checker with the client alone, declarations included", async () => {
    assert.strictEqual(
      await check(
        ["@wac/client"],
        `import { createClient, type SentMessage, WacError } from "@wac/client"
const wac = createClient({ baseUrl: "https://wac.example.com/v1", apiKey: "wac_live_x" })
export const sent: Promise<SentMessage> = wac.messages.send({ to: "+15551234567", type: "text", text: { body: "hi" } })
// @ts-expect-error a text has a body
void wac.messages.send({ to: "+15551234567", type: "text", text: {} })
export const again = (error: unknown): boolean => error instanceof WacError && error.code === "rate_limited"
`,
        { skipDefaultLibCheck: true }
      ),
      ""
    )
  })

  it("a program passes the type checker with wac alone, declarations included, and declares its templates", async () => {
    assert.strictEqual(
      await check(
        ["wac"],
        `import { createWac, defineProvider, fakeClock, memory, type Messages, type Wac, WacError } from "wac"
declare module "wac" {
  interface AccountTemplates {
    readonly hello: { readonly en_US: { readonly body: readonly ["name"] } }
  }
}
const provider = defineProvider({
  phoneNumber: "+15005550100",
  capabilities: { templates: true },
  templates: async () => [],
  send: async ({ messageId }) => ({ status: "accepted", providerMessageId: messageId })
})
export const started: Promise<Wac> = createWac({ storage: memory(), provider, clock: fakeClock() })
export const failed = (error: unknown) => error instanceof WacError && error.reason === "opted_out"
const { messages, nodeHandler } = await started
export const typed: Messages = messages
export const listener: Function = nodeHandler
const to = "+15551234567"
const key = { idempotencyKey: "1" }
void messages.send({ to, type: "template", template: { name: "hello", language: "en_US", bodyParams: ["Ana"] } }, key)
// @ts-expect-error the account has no such template
void messages.send({ to, type: "template", template: { name: "hallo", language: "en_US", bodyParams: ["Ana"] } }, key)
`,
        { skipDefaultLibCheck: true, types: ["node"] }
      ),
      ""
    )
  })

  it.each([
    { module: "NodeNext", moduleResolution: "NodeNext" },
    { module: "Node16", moduleResolution: "Node16" },
    { module: "ESNext", moduleResolution: "bundler" },
    { module: "CommonJS", moduleResolution: "bundler" }
  ])(
    "a program passes the type checker in CommonJS and as a module by $module and $moduleResolution",
    async (options) => {
      const source = `import { createClient } from "@wac/client"
import { createInternalClient } from "@wac/client/internal"
import { verify, type WebhookEvent } from "@wac/verifier"
import { webhook } from "@wac/verifier/fetch"
export const used: ReadonlyArray<Function> = [createClient, createInternalClient, verify, webhook]
export const nameOf = (event: WebhookEvent) => event.type === "message.failed" ? event.data.error.code : event.id
`
      const names = ["@wac/client", "@wac/verifier"]
      for (const type of ["commonjs", "module"] as const) {
        assert.strictEqual(await check(names, source, { skipDefaultLibCheck: true, ...options }, type), "", type)
      }
    }
  )
})
