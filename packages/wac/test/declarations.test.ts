import { TemplateDeclarations } from "@wac/core"
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative, resolve } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

/** What users without Effect see: the declarations of `wac`, and everything that they refer to. */

const source = resolve(import.meta.dirname, "../src")
const root = resolve(import.meta.dirname, "../../..")
const out = mkdtempSync(join(tmpdir(), "wac-declarations-"))

const tsc = (...given: ReadonlyArray<string>): string => {
  try {
    return execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), ...given], {
      encoding: "utf8"
    })
  } catch (error) {
    return String((error as { readonly stdout: unknown }).stdout)
  }
}

beforeAll(() => {
  writeFileSync(
    join(out, "tsconfig.json"),
    JSON.stringify({
      extends: relative(out, join(root, "tsconfig.base.json")),
      compilerOptions: {
        composite: false,
        declaration: true,
        emitDeclarationOnly: true,
        rootDir: source,
        outDir: join(out, "emitted"),
        types: ["node"],
        typeRoots: [join(root, "node_modules/@types")]
      },
      files: [join(source, "index.ts")]
    })
  )
  assert.strictEqual(tsc("-p", join(out, "tsconfig.json")), "")
})

afterAll(() => rmSync(out, { recursive: true }))

/** The declarations reachable from one file, as far as they are exported or referred to. */
const declared = (file: string): string => readFileSync(join(out, "emitted", file), "utf8")

/** Compiles a program against the declarations alone; gives what the compiler says. */
const compiled = (files: { readonly [name: string]: string }): string => {
  const program = mkdtempSync(join(out, "program-"))
  execFileSync("mkdir", ["-p", join(program, "node_modules/wac"), join(program, "node_modules/@types")])
  symlinkSync(join(root, "node_modules/@types/node"), join(program, "node_modules/@types/node"))
  symlinkSync(join(root, "node_modules/undici-types"), join(program, "node_modules/undici-types"))
  // the declarations that the index leads to, without those that only name Effect's types elsewhere
  execFileSync("cp", ["-r", join(out, "emitted"), join(program, "node_modules/wac/dist")])
  writeFileSync(
    join(program, "node_modules/wac/package.json"),
    JSON.stringify({ name: "wac", type: "module", exports: { ".": { types: "./dist/index.d.ts" } } })
  )
  writeFileSync(join(program, "package.json"), JSON.stringify({ type: "module" }))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(program, name), text)
  writeFileSync(
    join(program, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: {
        target: "ES2024",
        lib: ["ES2024", "ESNext", "DOM", "DOM.Iterable"],
        module: "NodeNext",
        strict: true,
        exactOptionalPropertyTypes: true,
        noEmit: true,
        skipLibCheck: true,
        types: ["node"]
      },
      files: Object.keys(files)
    })
  )
  return tsc("-p", join(program, "tsconfig.json"))
}

it("a program that uses everything compiles without effect and our packages installed", () => {
  const text = readFileSync(resolve(import.meta.dirname, "program.ts"), "utf8").replace("../src/index.ts", "wac")
  assert.strictEqual(compiled({ "program.ts": text }), "")
})

describe("the account's templates", () => {
  const positional = { parameterFormat: "positional", status: "approved", unfillable: null } as const
  const declaration = TemplateDeclarations.of([
    { ...positional, name: "hello", language: "en_US", variables: [] },
    { ...positional, name: "order_update", language: "en_US", variables: ["1", "2"] },
    { ...positional, name: "order_update", language: "de", variables: ["1"] },
    { ...positional, name: "welcome", language: "en", parameterFormat: "named", variables: ["first_name"] }
  ])

  /** A program with a send and an enqueue of each template. */
  const sending = (...templates: ReadonlyArray<string>) =>
    [
      "import type { Wac } from \"wac\"",
      "declare const wac: Wac",
      "const to = \"+15551234567\", key = { idempotencyKey: \"1\" }",
      ...templates.flatMap((template) => [
        `await wac.messages.send({ to, type: "template", template: ${template} }, key)`,
        `await wac.messages.enqueue({ to, type: "template", template: ${template} }, key)`
      ]),
      "await wac.messages.send({ to, type: \"text\", text: { body: \"Hi\" } }, key)",
      "export {}"
    ].join("\n")

  const right = [
    `{ name: "hello", language: "en_US" }`,
    `{ name: "order_update", language: "en_US", bodyParams: ["Ana", "1042"] }`,
    `{ name: "order_update", language: "de", bodyParams: ["Ana"] }`,
    `{ name: "welcome", language: "en", bodyParams: { first_name: "Ana" } }`,
    `{ name: "welcome", language: "en", bodyParams: ["Ana"] }`
  ]
  const wrong = [
    `{ name: "hallo", language: "en_US" }`,
    `{ name: "hello", language: "fr" }`,
    `{ name: "hello", language: "en_US", bodyParams: ["Ana"] }`,
    `{ name: "order_update", language: "en_US" }`,
    `{ name: "order_update", language: "en_US", bodyParams: ["Ana"] }`,
    `{ name: "order_update", language: "de", bodyParams: ["Ana", "1042"] }`,
    `{ name: "welcome", language: "en", bodyParams: { last_name: "Ana" } }`
  ]

  it("with the written declaration, a send takes the account's names, languages and placeholders, and no others", () => {
    const program = { "templates.d.ts": declaration }
    assert.strictEqual(compiled({ ...program, "right.ts": sending(...right) }), "")
    const errors = compiled({ ...program, "wrong.ts": sending(...wrong) })
    const lines = new Set([...errors.matchAll(/wrong\.ts\((\d+),/g)].map(([, line]) => Number(line)))
    // each send and each enqueue is on a line of its own, after three others
    assert.deepStrictEqual([...lines], Array.from({ length: 2 * wrong.length }, (_, i) => i + 4), errors)
  })

  it("without a declaration, a name is any text", () => {
    assert.strictEqual(compiled({ "all.ts": sending(...right, ...wrong) }), "")
  })
})

it("no declaration that the index exports mentions Effect or another of our packages", () => {
  const exported = [...declared("index.d.ts").matchAll(/export (?:type )?\{([^}]*)\} from "\.\/([\w/]+)\.(?:ts|js)"/g)]
  assert.isAtLeast(exported.length, 15)
  let checked = 0
  for (const [, names, module] of exported) {
    const text = declared(`${module}.d.ts`)
    const foreign = [...text.matchAll(/^import (?:type )?(.*) from "(?!\.{1,2}\/|node:)[^"]+";$/gm)].flatMap((
      [, what]
    ) => what!.replace(/[{}*]/g, "").split(",").map((part) => part.trim().split(/\s+as\s+|\s+/).at(-1)!))
    for (
      const name of names!.split(",").map((part) => part.replace(/^\s*type\s+/, "").trim()).filter((part) =>
        part !== ""
      )
    ) {
      const declaration = new RegExp(
        `export (?:declare )?(?:const|class|enum|interface|type|function) ${name}\\b[\\s\\S]*?(?=\\nexport |\\n/\\*\\*|\\ninterface |$)`
      ).exec(text)?.[0]
      assert.isDefined(declaration, `${name} of ${module}`)
      const code = declaration!.replace(/\/\*\*[\s\S]*?\*\//g, "")
      for (const word of foreign) {
        assert.notMatch(code, new RegExp(`\\b${word}\\.`), `${name} of ${module} mentions ${word}`)
        if (/^[A-Z]/.test(word)) {
          assert.notMatch(code, new RegExp(`[:<|] ?${word}\\b`), `${name} of ${module} mentions ${word}`)
        }
      }
      assert.notMatch(code, /import\("(?!node:)/, `${name} of ${module}`)
      checked++
    }
  }
  assert.isAtLeast(checked, 80)
})
