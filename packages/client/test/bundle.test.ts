/**
 * What a program that imports the client gets: the client, small, and nothing else.
 */
import { build } from "esbuild"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { runInNewContext } from "node:vm"
import { gzipSync } from "node:zlib"
import { assert, describe, it } from "vitest"

const source = new URL("../src/", import.meta.url)

const bundle = async (code: string, format: "esm" | "iife" = "esm") => {
  const { metafile, outputFiles } = await build({
    stdin: { contents: code, resolveDir: fileURLToPath(source), loader: "ts" },
    bundle: true,
    minify: true,
    format,
    globalName: "client",
    target: "es2022",
    platform: "neutral",
    conditions: ["source"],
    metafile: true,
    logLevel: "silent",
    write: false
  })
  const [output] = Object.values(metafile.outputs)
  return { text: outputFiles[0]!.text, imports: output!.imports }
}

describe("the bundle", () => {
  it.each([
    ["index", 6250],
    ["internal", 5050]
  ])("the bundle of %s is under %i bytes, minified and compressed, and imports nothing", async (module, bytes) => {
    const { imports, text } = await bundle(`export * from "./${module}.ts"`)
    assert.deepEqual(imports, [])
    assert.isBelow(gzipSync(text, { level: 9 }).length, bytes)
  })

  it("the bundle is empty if nothing is used", async () => {
    for (const module of ["index", "internal"]) {
      assert.strictEqual((await bundle(`import "./${module}.ts"`)).text.trim(), "", module)
    }
  })

  it("the client's bundle contains no dashboard code, and the dashboard's no API key code", async () => {
    assert.notInclude((await bundle("export * from \"./index.ts\"")).text, "/internal/")
    assert.notInclude((await bundle("export * from \"./internal.ts\"")).text, "Bearer")
  })

  it("the bundle needs only web globals: no process, Buffer, require or module system", async () => {
    const { text } = await bundle("export * from \"./index.ts\"", "iife")
    const globals = {
      AbortController,
      Blob,
      clearTimeout,
      crypto,
      Headers,
      setTimeout,
      TextEncoder,
      URL,
      URLSearchParams
    }
    const answered = await runInNewContext(
      `${text}; client.createClient({ baseUrl: "https://wac.example.com/v1", apiKey: "k", signingSecret: "s" })
        .messages.send({}).then(JSON.stringify)`,
      { ...globals, fetch: async () => Response.json({ status: "sent", message_id: "msg_1" }) }
    )
    assert.strictEqual(answered, "{\"status\":\"sent\",\"messageId\":\"msg_1\",\"replayed\":false}")
  })
})

describe("the sources", () => {
  it("the sources import only each other", () => {
    for (
      const file of readdirSync(source, { encoding: "utf8", recursive: true }).filter((name) => name.endsWith(".ts"))
    ) {
      const imported = [...readFileSync(new URL(file, source), "utf8").matchAll(/ from "([^"]+)"/g)]
      for (const [, path] of imported) assert.match(path!, /^(\.{1,2}\/(generated\/)?\w+\.ts|@wac\/client)$/, file)
    }
  })
})
