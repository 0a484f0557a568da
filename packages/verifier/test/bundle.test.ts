import { build, type Platform } from "esbuild"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { runInNewContext } from "node:vm"
import { gzipSync } from "node:zlib"
import { assert, describe, it } from "vitest"
import { vectors } from "./vectors.ts"

const source = new URL("../src/", import.meta.url)

const bundle = async (
  code: string,
  { format = "esm", platform = "neutral" }: { readonly format?: "esm" | "iife"; readonly platform?: Platform } = {}
) => {
  const result = await build({
    stdin: { contents: code, resolveDir: fileURLToPath(source), loader: "ts" },
    bundle: true,
    minify: true,
    format,
    globalName: "verifier",
    target: "es2022",
    platform,
    conditions: ["source"],
    metafile: true,
    logLevel: "silent",
    write: false
  })
  const [output] = Object.values(result.metafile.outputs)
  return { text: result.outputFiles[0]!.text, imports: output!.imports }
}

describe("the bundle", () => {
  const sizes: ReadonlyArray<readonly [code: string, bytes: number]> = [
    [
      "export * from \"./Signature.ts\"; export * from \"./StandardWebhooks.ts\"; export * from \"./RequestSignature.ts\"",
      2048
    ],
    ["export * from \"./index.ts\"", 3328],
    ["export * from \"./Fetch.ts\"", 3584],
    ["export * from \"./Express.ts\"", 3584],
    ["export * from \"./Fastify.ts\"", 3584],
    ["export * from \"./Hono.ts\"", 3584]
  ]
  for (const [code, bytes] of sizes) {
    it(`${code} is under ${bytes} bytes, minified and compressed, and imports nothing`, async () => {
      const { imports, text } = await bundle(code)
      assert.deepEqual(imports, [])
      assert.isBelow(gzipSync(text, { level: 9 }).length, bytes)
    })
  }

  it("only the bundle for Node imports node:crypto, and nothing else", async () => {
    const importsFor = async (platform: Platform) => {
      const { imports } = await bundle("export * from \"./index.ts\"", { platform })
      return imports.map(({ path }) => path)
    }
    assert.deepEqual(await importsFor("node"), ["node:crypto"])
    assert.deepEqual(await importsFor("browser"), [])
  })

  it("the bundle drops unused code", async () => {
    const whole = await bundle("export * from \"./index.ts\"")
    const verifyOnly = await bundle("export { verify } from \"./index.ts\"")
    assert.notInclude(verifyOnly.text, "webhook-id")
    assert.notInclude(verifyOnly.text, "whsec_")
    assert.isBelow(verifyOnly.text.length, whole.text.length * 0.75)
    assert.notInclude(verifyOnly.text, "already parsed")
    for (const file of ["index", "Express", "Fastify", "Fetch", "Hono"]) {
      assert.strictEqual((await bundle(`import "./${file}.ts"`)).text.trim(), "", file)
    }
  })

  it("the bundle needs only web globals: no process, Buffer, require or module system", async () => {
    const { text } = await bundle("export * from \"./index.ts\"", { format: "iife" })
    const { secret, timestamp, deliveries: [delivery] } = vectors
    const outcome = await runInNewContext(
      `${text}; verifier.sign(body, secret, timestamp)
        .then((header) => verifier.verify(body, header, secret, { now: timestamp })
          .then((result) => JSON.stringify([header, result])))`,
      { TextEncoder, TextDecoder, crypto, atob, btoa, body: delivery!.text, secret, timestamp }
    )
    assert.deepEqual(JSON.parse(outcome), [delivery!.header, { ok: true, timestamp }])
  })
})

describe("the sources", () => {
  it("the sources import only each other, except the runtime's HMAC", () => {
    const files = readdirSync(source, { encoding: "utf8", recursive: true })
    for (const file of files.filter((name) => name.endsWith(".ts") && name !== "HmacNodeCrypto.ts")) {
      const imported = [...readFileSync(new URL(file, source), "utf8").matchAll(/from "([^"]+)"/g)]
      assert.isTrue(imported.every(([, path]) => /^(#hmac|\.{1,2}\/(generated\/)?\w+\.ts)$/.test(path!)), file)
    }
  })
})
