import { TemplateDeclarations } from "@wac/core"
import { execFileSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative, resolve } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

/** What users without Effect see: the declarations that become those of `wac`, and everything that they refer to. */

const sources = {
  wac: resolve(import.meta.dirname, "../src"),
  "@wac/client": resolve(import.meta.dirname, "../../client/src")
} as const
const entries = { wac: "promises", "@wac/client": "index" } as const
const root = resolve(import.meta.dirname, "../../..")
const out = mkdtempSync(join(tmpdir(), "wac-declarations-"))
const emitted = (name: keyof typeof sources): string => join(out, "emitted", name)

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
  for (const name of ["wac", "@wac/client"] as const) {
    const config = join(out, "tsconfig.json")
    writeFileSync(
      config,
      JSON.stringify({
        extends: relative(out, join(root, "tsconfig.base.json")),
        compilerOptions: {
          composite: false,
          declaration: true,
          emitDeclarationOnly: true,
          // the whole check of the repository has checked them
          noCheck: true,
          rootDir: sources[name],
          outDir: emitted(name),
          types: ["node"],
          typeRoots: [join(root, "node_modules/@types")]
        },
        files: [join(sources[name], `${entries[name]}.ts`)]
      })
    )
    assert.strictEqual(tsc("-p", config), "")
  }
})

afterAll(() => rmSync(out, { recursive: true }))

/** The declarations reachable from one file, as far as they are exported or referred to. */
const declared = (file: string): string => readFileSync(join(emitted("wac"), file), "utf8")

/** Compiles a program against the declarations of these packages alone; gives what the compiler says. */
const compiled = (
  files: { readonly [name: string]: string },
  ...packages: ReadonlyArray<keyof typeof sources>
): string => {
  const program = mkdtempSync(join(out, "program-"))
  mkdirSync(join(program, "node_modules/@types"), { recursive: true })
  symlinkSync(join(root, "node_modules/@types/node"), join(program, "node_modules/@types/node"))
  symlinkSync(join(root, "node_modules/undici-types"), join(program, "node_modules/undici-types"))
  for (const name of new Set(packages)) {
    const folder = join(program, "node_modules", name)
    // the declarations that the index leads to, without those that only name Effect's types elsewhere
    cpSync(emitted(name), join(folder, "dist"), { recursive: true })
    writeFileSync(
      join(folder, "package.json"),
      JSON.stringify({ name, type: "module", exports: { ".": { types: `./dist/${entries[name]}.d.ts` } } })
    )
  }
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
  const text = readFileSync(resolve(import.meta.dirname, "program.ts"), "utf8").replace("../src/promises.ts", "wac")
  assert.strictEqual(compiled({ "program.ts": text }, "wac"), "")
})

describe("the account's templates", () => {
  const approved = {
    category: "utility",
    parameterFormat: "positional",
    status: "approved"
  } as const
  const body = (text: string) => ({ type: "BODY", text })
  const declaration = TemplateDeclarations.of([
    { ...approved, name: "hello", language: "en_US", components: [body("Hello")] },
    { ...approved, name: "order_update", language: "en_US", components: [body("{{1}}: {{2}}")] },
    { ...approved, name: "order_update", language: "de", components: [body("{{1}}")] },
    { ...approved, name: "welcome", language: "en", parameterFormat: "named", components: [body("{{first_name}}")] },
    {
      ...approved,
      name: "ticket",
      language: "en",
      components: [
        { type: "HEADER", format: "IMAGE" },
        {
          type: "BUTTONS",
          buttons: [
            { type: "QUICK_REPLY", text: "No" },
            { type: "URL", text: "See", url: "https://shop.example/{{1}}" }
          ]
        }
      ]
    }
  ])

  /** A program with a send and an enqueue of each template. */
  const sending = (of: string, ...templates: ReadonlyArray<string>) =>
    [
      of,
      "const to = \"+15551234567\", key = { idempotencyKey: \"1\" }",
      "await wac.messages.send({ to, type: \"text\", text: { body: \"Hi\" } }, key)",
      ...templates.flatMap((template) => [
        `await wac.messages.send({ to, type: "template", template: ${template} }, key)`,
        `await wac.messages.enqueue({ to, type: "template", template: ${template} }, key)`
      ]),
      "export {}"
    ].join("\n")

  const image = `header: { image: { link: "https://shop.example/a.png" } }`
  const right = [
    `{ name: "hello", language: "en_US" }`,
    `{ name: "order_update", language: "en_US", bodyParams: ["Ana", "1042"] }`,
    `{ name: "order_update", language: "de", bodyParams: ["Ana"] }`,
    `{ name: "welcome", language: "en", bodyParams: { first_name: "Ana" } }`,
    `{ name: "welcome", language: "en", bodyParams: ["Ana"] }`,
    `{ name: "ticket", language: "en", ${image}, buttons: [{ index: 1, urlSuffix: "42" }] }`,
    `{ name: "ticket", language: "en", ${image}, buttons: [{ index: 0, payload: "no" }, { index: 1, urlSuffix: "42" }] }`
  ]
  const wrong = [
    `{ name: "hallo", language: "en_US" }`,
    `{ name: "hello", language: "fr" }`,
    `{ name: "hello", language: "en_US", bodyParams: ["Ana"] }`,
    `{ name: "hello", language: "en_US", ${image} }`,
    `{ name: "hello", language: "en_US", buttons: [{ index: 0, payload: "no" }] }`,
    `{ name: "order_update", language: "en_US" }`,
    `{ name: "order_update", language: "en_US", bodyParams: ["Ana"] }`,
    `{ name: "order_update", language: "de", bodyParams: ["Ana", "1042"] }`,
    `{ name: "welcome", language: "en", bodyParams: { last_name: "Ana" } }`,
    `{ name: "ticket", language: "en", buttons: [{ index: 1, urlSuffix: "42" }] }`,
    `{ name: "ticket", language: "en", ${image} }`,
    `{ name: "ticket", language: "en", ${image}, buttons: [] }`,
    `{ name: "ticket", language: "en", ${image}, buttons: [{ index: 1, payload: "42" }] }`,
    `{ name: "ticket", language: "en", header: { text: "A" }, buttons: [{ index: 1, urlSuffix: "42" }] }`
  ]

  const doors = [
    ["wac", "import type { Wac } from \"wac\"; declare const wac: Wac"],
    ["@wac/client", "import type { Client } from \"@wac/client\"; declare const wac: Client"]
  ] as const

  for (const [name, declared] of doors) {
    it(`with the written declaration, a send of ${name} takes the account's templates with their values, and no others`, () => {
      // also where only this package is installed
      for (const [other] of doors) {
        const errors = compiled(
          {
            "templates.ts": declaration,
            "right.ts": sending(declared, ...right),
            "wrong.ts": sending(declared, ...wrong)
          },
          name,
          other
        )
        assert.notMatch(errors, /^error/m)
        const found = [...errors.matchAll(/^[^\s(]*?(\w+\.ts)\((\d+),/gm)]
        assert.deepStrictEqual([...new Set(found.map(([, file]) => file))], ["wrong.ts"], errors)
        const lines = new Set(found.map(([, , line]) => Number(line)))
        // each send and each enqueue is on a line of its own, after three others
        assert.deepStrictEqual([...lines], Array.from({ length: 2 * wrong.length }, (_, i) => i + 4), errors)
      }
    })

    it(`without a declaration, a name in a send of ${name} is any text`, () => {
      const any = [...right, `{ name: "hallo", language: "fr", bodyParams: ["Ana"] }`]
      assert.strictEqual(compiled({ "all.ts": sending(declared, ...any) }, name), "")
    })
  }
})

it("no declaration that the index exports mentions Effect or another of our packages", () => {
  const exported = [
    ...declared("promises.d.ts").matchAll(/export (?:type )?\{([^}]*)\} from "\.\/([\w/]+)\.(?:ts|js)"/g)
  ]
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
